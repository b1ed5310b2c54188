// SPDX-License-Identifier: Apache-2.0
/*
 * test_spellings.c: one request in every spelling: query keys, compact text, a JSON object, a file
 * of tensors. Random specs of all kinds, made from the rows of their parameters, must come out as
 * the same spec_id, the same numbers and the same digest, whichever way they were told. A request
 * that is refused must be refused in every spelling.
 */
#include "base64.h"
#include "call.h"
#include "files.h"

#define SPECS       6000
#define TOKENS      3
#define TEXT_MAX    2048
#define SETTINGS    PE_PARAMS_MAX
#define N(array)    (sizeof(array) / sizeof *(array))
#define SPELLINGS_N 5

/* ---- Random specs ---------------------------------------------------------------------------- */

static uint64_t draws;

static size_t below(size_t n)
{
    return (size_t)(pe_draw(4, "spellings", ++draws) >> 33) % n;
}

/* One parameter of a spec, with its value as numbers or as a word. */
struct setting {
    const struct pe_param *row;
    char word[40]; /* PE_ENUM, PE_BOOL */
    double number[16];
    size_t numbers_n;
};

struct random_spec {
    const struct pe_kind *kind;
    struct setting setting[SETTINGS];
    size_t settings_n;
    size_t dim, heads;
};

static const struct setting *setting_named(const struct random_spec *spec, const char *name)
{
    for (size_t i = 0; i < spec->settings_n; i++)
        if (strcmp(spec->setting[i].row->name, name) == 0)
            return &spec->setting[i];
    return NULL;
}

/* Whether a row's condition, "scaling=linear|ntk", holds; defaults are first choices. */
static bool applies(const struct random_spec *spec, const struct pe_param *row)
{
    if (!row->when)
        return true;
    char name[40];
    size_t len = strcspn(row->when, "=");
    snprintf(name, sizeof name, "%.*s", (int)len, row->when);
    const struct setting *on = setting_named(spec, name);
    const char *choices = row->when + len + 1;
    for (size_t word; on && *choices; choices += word + (choices[word] == '|')) {
        word = strcspn(choices, "|");
        if (strlen(on->word) == word && memcmp(on->word, choices, word) == 0)
            return true;
    }
    return false;
}

static bool in_range(const struct pe_param *row, double number)
{
    return number >= row->min && number <= row->max &&
           (number > row->min || !(row->flags & PE_OPEN_MIN)) &&
           (row->multiple_of == 0 || (uint64_t)number % row->multiple_of == 0);
}

static double random_number(const struct pe_param *row)
{
    static const double integers[] = {0, 1, 2, 3, 4, 8, 12, 16, 32, 64, 2048, -1};
    static const double reals[] = {0.25, 0.5, 1, 1.5, 2, 3.7, 8, 32, 100, 10000, 500000, 1e-3, 0.1};
    for (int i = 0; i < 100; i++) {
        double number = row->type == PE_INT ? integers[below(N(integers))] : reals[below(N(reals))];
        if (strcmp(row->name, "dim") == 0)
            number = 2 + (double)below(15);
        else if (strcmp(row->name, "heads") == 0)
            number = 1 + (double)below(4);
        if (in_range(row, number))
            return number;
    }
    return row->min;
}

/* The choice number i of "interleaved|gptj half|neox", by its name. */
static void choice_name(const char *choices, size_t i, char out[40])
{
    for (; i > 0; i--)
        choices += strcspn(choices, " ") + 1;
    snprintf(out, 40, "%.*s", (int)strcspn(choices, "| "), choices);
}

static size_t choices_n(const char *choices)
{
    size_t n = 1;
    for (; *choices; choices++)
        n += *choices == ' ';
    return n;
}

static void random_setting(struct random_spec *spec, const struct pe_param *row)
{
    struct setting *setting = &spec->setting[spec->settings_n++];
    *setting = (struct setting){.row = row};
    if (row->type == PE_ENUM)
        choice_name(row->choices, below(choices_n(row->choices)), setting->word);
    else if (row->type == PE_BOOL)
        snprintf(setting->word, sizeof setting->word, "%s", below(2) ? "true" : "false");
    else
        setting->numbers_n = 1;
    if (row->type == PE_REALS)
        setting->numbers_n = spec->kind->acts == PE_BIASES ? spec->heads : spec->dim / 2;
    for (size_t i = 0; i < setting->numbers_n; i++)
        setting->number[i] = random_number(row);
}

/* A word for one more parameter; those without which nothing fits together are always there. */
static void make_spec(struct random_spec *spec, size_t i)
{
    *spec = (struct random_spec){.kind = pe_kind_at(i % pe_kinds_n()), .dim = 64, .heads = 1};
    for (size_t r = 0; r < spec->kind->params_n; r++) {
        const struct pe_param *row = &spec->kind->params[r];
        bool dim = strcmp(row->name, "dim") == 0, heads = strcmp(row->name, "heads") == 0;
        bool needed = !row->fallback && !(row->flags & PE_OPTIONAL);
        bool fits_others = row->type == PE_REALS && row->multiple_of; /* sections and their axes */
        if (row->type == PE_TEXT || fits_others || !applies(spec, row) ||
            !(dim || heads || row->when || needed || below(6) == 0))
            continue;
        random_setting(spec, row);
        const struct setting *last = &spec->setting[spec->settings_n - 1];
        if (dim)
            spec->dim = (size_t)last->number[0];
        if (heads)
            spec->heads = (size_t)last->number[0];
    }
}

/* ---- Its spellings --------------------------------------------------------------------------- */

static void add(char *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(char *out, const char *format, ...)
{
    size_t len = strlen(out);
    va_list args;
    va_start(args, format);
    int n = vsnprintf(out + len, TEXT_MAX - len, format, args);
    va_end(args);
    cr_assert(n >= 0 && (size_t)n < TEXT_MAX - len);
}

static void add_numbers(char *out, const struct setting *setting, char separator)
{
    for (size_t i = 0; i < setting->numbers_n; i++) {
        char digits[PE_TEXT_MAX + 1];
        digits[pe_text_print(PE_F64, setting->number, i, digits)] = '\0';
        if (i > 0)
            add(out, "%c", separator);
        add(out, "%s", digits);
    }
}

/* kind=rope&dim=8, or rope:dim=8 with other separators. */
static void add_text(char *out, const struct random_spec *spec, const char *first,
                     const char *between, char in_lists)
{
    for (size_t i = 0; i < spec->settings_n; i++) {
        const struct setting *setting = &spec->setting[i];
        add(out, "%s%s=%s", i ? between : first, setting->row->name, setting->word);
        add_numbers(out, setting, in_lists);
    }
}

static void add_query(char *out, const struct random_spec *spec)
{
    add(out, "kind=%s", spec->kind->name);
    add_text(out, spec, "&", "&", ',');
}

static void add_compact(char *out, const struct random_spec *spec)
{
    add(out, "%s", spec->kind->name);
    add_text(out, spec, ":", ",", '+');
}

static void add_object(char *out, const struct random_spec *spec)
{
    add(out, "{\"kind\":\"%s\"", spec->kind->name);
    for (size_t i = spec->settings_n; i-- > 0;) { /* their order does not matter */
        const struct setting *setting = &spec->setting[i];
        bool list = setting->row->type == PE_REALS, word = setting->row->type == PE_ENUM;
        add(out, ",\"%s\":%s", setting->row->name, list ? "[" : word ? "\"" : "");
        add(out, "%s", setting->word);
        add_numbers(out, setting, ',');
        add(out, "%s", list ? "]" : word ? "\"" : "");
    }
    add(out, "}");
}

/* ---- One request in all of them -------------------------------------------------------------- */

/* The caller's numbers: vectors, or scores for kinds that act on them. */
struct numbers {
    const char *name;
    size_t rank, shape[3], count;
    float data[4 * TOKENS * TOKENS + 64 * TOKENS];
    int64_t positions[PE_AXES_MAX * TOKENS];
    size_t axes;
};

static void make_numbers(struct numbers *numbers, const struct random_spec *spec)
{
    *numbers = (struct numbers){.axes = spec->kind->axes};
    if (spec->kind->acts == PE_BIASES) {
        numbers->name = "scores";
        numbers->rank = 3;
        memcpy(numbers->shape, (size_t[]){spec->heads, TOKENS, TOKENS}, sizeof numbers->shape);
    } else {
        numbers->name = "x";
        numbers->rank = 2;
        memcpy(numbers->shape, (size_t[]){TOKENS, spec->dim, 1}, sizeof numbers->shape);
    }
    numbers->count = numbers->shape[0] * numbers->shape[1] * (numbers->rank == 3 ? TOKENS : 1);
    pe_fill_random(draws, "x", PE_CONTENT_NORMAL, 1, 0, numbers->count, PE_F32, numbers->data);
    for (size_t i = 0; i < numbers->axes * TOKENS; i++)
        numbers->positions[i] = (int64_t)below(8);
}

static void add_positions(char *out, const struct numbers *numbers)
{
    for (size_t i = 0; i < numbers->axes * TOKENS; i++)
        add(out, "%s%lld",
            i == 0            ? ""
            : i % TOKENS == 0 ? ";"
                              : ",",
            (long long)numbers->positions[i]);
}

/* A .safetensors file, with the request's other half as `request`, the positions in it or not. */
static void make_file(struct file *file, const struct numbers *numbers, const char *request,
                      bool positions)
{
    char header[2 * TEXT_MAX] = "{", data[sizeof numbers->data + sizeof numbers->positions];
    size_t len = positions ? numbers->axes * TOKENS * sizeof(int64_t) : 0;
    size_t bytes = numbers->count * sizeof(float);
    memcpy(data, numbers->positions, len);
    memcpy(data + len, numbers->data, bytes);
    if (request) {
        json_t *text = json_string(request);
        char *quoted = json_dumps(text, JSON_ENCODE_ANY);
        add(header, "\"__metadata__\":{\"request\":%s},", quoted);
        free(quoted);
        json_decref(text);
    }
    if (positions && numbers->axes == 1)
        add(header, "\"positions\":{\"dtype\":\"I64\",\"shape\":[%d],\"data_offsets\":[0,%zu]},",
            TOKENS, len);
    else if (positions)
        add(header,
            "\"positions\":{\"dtype\":\"I64\",\"shape\":[%zu,%d],\"data_offsets\":[0,%zu]},",
            numbers->axes, TOKENS, len);
    add(header, "\"%s\":{\"dtype\":\"F32\",\"shape\":[%zu,%zu", numbers->name, numbers->shape[0],
        numbers->shape[1]);
    if (numbers->rank == 3)
        add(header, ",%zu", numbers->shape[2]);
    add(header, "],\"data_offsets\":[%zu,%zu]}}", len, len + bytes);
    file_safetensors(file, header, data, len + bytes);
}

static void add_tensor(char *out, const struct numbers *numbers)
{
    char b64[BASE64_LEN(sizeof numbers->data) + 1];
    size_t bytes = numbers->count * sizeof(float);
    base64_encode(numbers->data, bytes, b64);
    b64[BASE64_LEN(bytes)] = '\0';
    add(out, "\"%s\":{\"dtype\":\"f32\",\"shape\":[%zu,%zu", numbers->name, numbers->shape[0],
        numbers->shape[1]);
    if (numbers->rank == 3)
        add(out, ",%zu", numbers->shape[2]);
    add(out, "],\"b64\":\"%s\"}", b64);
}

/* Spelling number `way`: its target and body; returns the media type. */
static const char *spell(size_t way, const struct random_spec *spec, const struct numbers *numbers,
                         const char *format, char *target, struct file *body)
{
    char json[TEXT_MAX] = "{\"spec\":";
    target[0] = '\0';
    add(target, "/v1/apply.%s", format);
    if (way == 0) { /* all but the tensor in the query */
        add(target, "?");
        add_query(target, spec);
        add(target, "&positions=");
        add_positions(target, numbers);
        make_file(body, numbers, NULL, false);
        return "application/x-safetensors";
    }
    if (way % 2)
        add_object(json, spec);
    else {
        add(json, "\"");
        add_compact(json, spec);
        add(json, "\"");
    }
    if (way == 4) { /* positions as a tensor of the file */
        add(json, "}");
        make_file(body, numbers, json, true);
        return "application/x-safetensors";
    }
    add(json, ",\"positions\":\"");
    add_positions(json, numbers);
    add(json, "\"");
    if (way == 3) {
        add(json, "}");
        make_file(body, numbers, json, false);
        return "application/x-safetensors";
    }
    add(json, ",");
    add_tensor(json, numbers);
    add(json, "}");
    body->len = strlen(json);
    memcpy(body->bytes, json, body->len);
    return "application/json";
}

static char *copy(const char *text)
{
    char *made = strdup(text ? text : "");
    cr_assert(made);
    return made;
}

/* What an answer has in common in every spelling. */
struct outcome {
    int status;
    char *id, *digest, *body;
    size_t len;
};

static void ask(struct outcome *outcome, const char *target, const struct file *body)
{
    struct request request;
    if (body)
        call_bytes(&request, target, body->bytes, body->len);
    else
        call(&request, "GET", target, NULL);
    *outcome = (struct outcome){.status = request.response.status, .len = call_body_len(&request)};
    outcome->id = copy(call_field(&request, "Posenc-Spec-Id"));
    outcome->digest = copy(call_field(&request, "Repr-Digest"));
    outcome->body = malloc(outcome->len + 1);
    cr_assert(outcome->body);
    memcpy(outcome->body, call_body(&request), outcome->len + 1);
    call_end(&request);
}

static void forget(struct outcome *outcome)
{
    free(outcome->id);
    free(outcome->digest);
    free(outcome->body);
}

static void expect_same(const struct outcome *first, const struct outcome *other,
                        const char *target)
{
    cr_assert_eq(other->status, first->status, "%s: %d, elsewhere %d: %s", target, other->status,
                 first->status, other->body);
    if (first->status != 200)
        return;
    cr_expect_str_eq(other->id, first->id, "%s", target);
    cr_expect(other->digest[0] && strcmp(other->digest, first->digest) == 0, "%s", target);
    cr_expect(other->len == first->len && memcmp(other->body, first->body, first->len) == 0,
              "%s:\n%s\nelsewhere\n%s", target, other->body, first->body);
}

static bool posts_agree(const struct random_spec *spec, const struct numbers *numbers,
                        const char *format)
{
    struct outcome first;
    for (size_t way = 0; way < SPELLINGS_N; way++) {
        char target[TEXT_MAX];
        static struct file body;
        struct outcome outcome;
        call_with.content_type = spell(way, spec, numbers, format, target, &body);
        ask(way ? &outcome : &first, target, &body);
        if (way) {
            expect_same(&first, &outcome, target);
            forget(&outcome);
        }
    }
    bool good = first.status == 200;
    forget(&first);
    return good;
}

/* The table by query keys and by compact text, and the id that /v1/spec gives. */
static void gets_agree(const struct random_spec *spec, const char *format)
{
    char query[TEXT_MAX] = "", compact[TEXT_MAX] = "", table[TEXT_MAX + 60];
    struct outcome by_query, by_compact;
    add_query(query, spec);
    add_compact(compact, spec);
    snprintf(table, sizeof table, "/v1/table.%s?positions=0:2&%s", format, query);
    ask(&by_query, table, NULL);
    snprintf(table, sizeof table, "/v1/table.%s?positions=0,1&spec=%s", format, compact);
    ask(&by_compact, table, NULL);
    expect_same(&by_query, &by_compact, table);
    forget(&by_query);
    forget(&by_compact);
}

Test(spellings, say_the_same)
{
    static const char *const formats[] = {"json", "safetensors", "npy", "csv", "bin"};
    size_t good[64] = {0};
    cr_assert_leq(pe_kinds_n(), N(good));
    for (size_t i = 0; i < SPECS; i++) {
        struct random_spec spec;
        struct numbers numbers;
        const char *format = formats[below(N(formats))];
        make_spec(&spec, i);
        make_numbers(&numbers, &spec);
        good[i % pe_kinds_n()] += posts_agree(&spec, &numbers, format);
        gets_agree(&spec, format);
    }
    for (size_t k = 0; k < pe_kinds_n(); k++) {
        bool alone = pe_kind_at(k)->properties & PE_CONTENT; /* scores without q and k */
        cr_expect(alone ? good[k] == 0 : good[k] >= 50, "%zu good specs of %s", good[k],
                  pe_kind_at(k)->name);
    }
}
