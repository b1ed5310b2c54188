// SPDX-License-Identifier: Apache-2.0
/* fuzz_positions.c: any text as positions, as the sizes of a grid and as segments; what is printed
 * of them reads back as the same. */
#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "posenc.h"

#define MAX       2048
#define CELLS_MAX 64 /* of a grid that are looked at */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void try_grid(const char *text)
{
    struct pe_grid grid = {.merge = 1}, again = {.axes = 0};
    struct pe_faults faults = {.n = 0};
    char printed[PE_GRID_TEXT_MAX];
    bool ok = pe_grid_parse(text, "grid", &grid, &faults);
    assert(ok == (faults.n == 0));
    if (!ok)
        return;
    size_t cells = pe_grid_cells(&grid);
    assert(cells > 0 && cells <= PE_POSITIONS_N_MAX && pe_grid_check(&grid, &faults));
    assert(pe_grid_print(&grid, printed, sizeof printed) < sizeof printed);
    assert(pe_grid_parse(printed, "grid", &again, &faults) && again.axes == grid.axes &&
           memcmp(again.size, grid.size, grid.axes * sizeof *grid.size) == 0);
    for (int order = PE_GRID_ROW; order <= PE_GRID_MERGE; order++)
        for (size_t i = 0; i < CELLS_MAX * grid.axes; i++) {
            size_t axis = i % grid.axes;
            grid.order = (enum pe_grid_order)order;
            assert(pe_grid_index(&grid, axis, i * 7919 % cells) < grid.size[axis]);
        }
}

static void try_segments(const char *text)
{
    static struct pe_segment at[PE_SEGMENTS_MAX], again[PE_SEGMENTS_MAX];
    static char printed[PE_SEGMENTS_MAX * 4 * PE_TEXT_MAX], reprinted[sizeof printed];
    struct pe_faults faults = {.n = 0};
    size_t n, again_n, tokens;
    bool ok = pe_segments_parse(text, "segments", at, PE_SEGMENTS_MAX, &n, &faults);
    assert(ok == (faults.n == 0));
    if (!ok)
        return;
    assert(pe_segments_print(at, n, printed, sizeof printed) < sizeof printed);
    assert(pe_segments_parse(printed, "segments", again, PE_SEGMENTS_MAX, &again_n, &faults));
    pe_segments_print(again, again_n, reprinted, sizeof reprinted);
    assert(again_n == n && strcmp(printed, reprinted) == 0);
    struct pe_segments all = {.style = pe_style_find("mrope", 5), .at = at, .n = n};
    all.patch = all.merge = all.tokens_per_second = 1;
    ok = pe_segments_check(&all, "segments", &tokens, &faults);
    assert(ok == (faults.n == 0) && (!ok || (tokens > 0 && tokens <= PE_POSITIONS_N_MAX)));
    double *places = ok ? malloc(3 * tokens * sizeof *places) : NULL;
    if (!places)
        return;
    pe_segments_fill(&all, (double *const[]){places, places + tokens, places + 2 * tokens});
    for (size_t i = 0; i < 3 * tokens; i++)
        assert(places[i] >= 0 && places[i] <= PE_POSITION_MAX);
    free(places);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static double at[MAX], again[MAX];
    struct pe_faults faults = {.n = 0};
    size_t n, again_n;
    char *text = strndup((const char *)data, size);
    bool ok = pe_positions_parse(text, "positions", at, MAX, &n, &faults);
    assert(ok == (faults.n == 0) && (!ok || (n > 0 && n <= PE_POSITIONS_N_MAX)));
    if (ok && n <= MAX) {
        for (size_t i = 0; i < n; i++)
            assert(fabs(at[i]) <= PE_POSITION_MAX && (at[i] != 0 || !signbit(at[i])));
        size_t len = pe_positions_print(at, n, NULL, 0);
        char *printed = malloc(len + 1);
        assert(printed && pe_positions_print(at, n, printed, len + 1) == len);
        assert(strlen(printed) == len);
        assert(pe_positions_parse(printed, "positions", again, MAX, &again_n, &faults));
        assert(again_n == n && memcmp(at, again, n * sizeof *at) == 0);
        free(printed);
    }
    try_grid(text);
    try_segments(text);
    free(text);
    return 0;
}
