// SPDX-License-Identifier: Apache-2.0
/* test_faults.c: faults of the core become errors with their place. */
#include <criterion/criterion.h>

#include "api.h"

Test(faults, status_and_place)
{
    static const struct {
        enum pe_status status;
        enum err_code code;
        const char *prefix, *param, *where;
    } rows[] = {
        {PE_UNKNOWN_PARAMETER, ERR_unknown_parameter, "", "dims", "dims"},
        {PE_MISSING_PARAMETER, ERR_missing_parameter, "/spec/", "factor", "/spec/factor"},
        {PE_INVALID_VALUE, ERR_invalid_value, "", "base", "base"},
        {PE_CONFLICTING_PARAMETERS, ERR_conflicting_parameters, "/", "dim", "/dim"},
        {PE_SHAPE_MISMATCH, ERR_shape_mismatch, "/", "x", "/x"},
        {PE_LIMIT_EXCEEDED, ERR_limit_exceeded, "", "positions", "positions"},
        {PE_NO_MEMORY, ERR_overloaded, "", "dim", "dim"},
        /* In a pointer the name is escaped; in a query it stands as it is. */
        {PE_UNKNOWN_PARAMETER, ERR_unknown_parameter, "/spec/", "a/b~c", "/spec/a~1b~0c"},
        {PE_UNKNOWN_PARAMETER, ERR_unknown_parameter, "", "a/b~c", "a/b~c"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct pe_faults faults = {0};
        struct err err = {0};
        pe_fault_add(&faults, rows[i].status, rows[i].param, "a hint", "detail with %%s %d", 7);
        api_faults(&err, &faults, rows[i].prefix);
        cr_assert_eq(err.n, 1);
        cr_expect_eq(err.item[0].code, rows[i].code, "row %zu", i);
        cr_expect_str_eq(err.item[0].where, rows[i].where, "row %zu", i);
        cr_expect_str_eq(err.item[0].detail, "detail with %s 7", "row %zu", i);
        cr_expect_str_eq(err.item[0].hint, "a hint", "row %zu", i);
    }
}

Test(faults, long_names_are_cut)
{
    struct pe_faults faults = {0};
    struct err err = {0};
    pe_fault_add(&faults, PE_UNKNOWN_PARAMETER, "////////////////////////////////////////", NULL,
                 "unknown");
    char prefix[160];
    memset(prefix, 'p', sizeof prefix);
    prefix[100] = '\0';
    api_faults(&err, &faults, prefix);
    cr_expect_lt(strlen(err.item[0].where), sizeof err.item[0].where);
    cr_expect_eq(memcmp(err.item[0].where, prefix, 100), 0);
    prefix[100] = 'p';
    prefix[159] = '\0';
    api_faults(&err, &faults, prefix);
    cr_expect_eq(strlen(err.item[1].where), sizeof err.item[1].where - 1);
}

Test(faults, all_at_one_place_and_all_counted)
{
    struct pe_faults faults = {0};
    struct err err = {0};
    for (int i = 0; i < PE_FAULTS_MAX + 3; i++)
        pe_fault_add(&faults, PE_INVALID_VALUE, "dim", NULL, "fault %d", i);
    api_faults_at(&err, &faults, "spec");
    cr_expect_eq(err.n, PE_FAULTS_MAX + 3);
    cr_expect_str_eq(err.item[0].where, "spec");
    cr_expect_str_eq(err.item[PE_FAULTS_MAX - 1].where, "spec");
    cr_expect_str_eq(err.item[PE_FAULTS_MAX - 1].detail, "fault 15");
    err = (struct err){0};
    api_faults(&err, &faults, "");
    cr_expect_eq(err.n, PE_FAULTS_MAX + 3);
}
