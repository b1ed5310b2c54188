// SPDX-License-Identifier: Apache-2.0
/*
 * test_identify_added.c: POST /v1/identify of what was added to vectors: the codes of the
 * definitions, written down by hand.
 */
#include "call.h"

#define PATH "/v1/identify"

/* A question, and what is answered: parts of what it is told in, of the key that is open. */
struct question {
    const char *body, *confidence, *compact, *says, *key, *text;
};

static void expect_sentence(const char *body, const char *part)
{
    char *says = call_sentences(PATH ".txt", body);
    call_says(says, part);
    free(says);
}

static const struct question questions[] = {
    /* the position itself */
    {"{\"x\":[[0.1,0.2],[0.3,0.4],[0.5,0.6],[0.7,0.8]],\"positions\":[0,1,2,1000],"
     "\"y\":[[0.1,0.2],[1.3,1.4],[2.5,2.6],[1000.7,1000.8]]}",
     "unique", "integer:dim=2", "Integer position, added to x", NULL, "That is: Integer position"},
    /* 0, 1, 2, 3 in binary, the low bit first; Gray code has 2 as 3 */
    {"{\"x\":[[1,1,1],[1,1,1],[1,1,1],[1,1,1]],"
     "\"y\":[[1,1,1],[2,1,1],[1,2,1],[2,2,1]]}",
     "unique", "binary:dim=3", "Binary position, added to x", NULL, "One encoding makes y of x:"},
    {"{\"x\":[[1,1,1],[1,1,1],[1,1,1],[1,1,1]],"
     "\"y\":[[1,1,1],[2,1,1],[2,2,1],[1,2,1]]}",
     "unique", "gray:dim=3", "Position in Gray code, added to x", NULL,
     "It gives every number of y"},
    /* and 0 and 1 are the same in both */
    {"{\"x\":[[1,1,1],[1,1,1]],\"y\":[[1,1,1],[2,1,1]]}", "ambiguous", "binary:dim=3",
     "Binary position", "kind", "To settle it: send more positions in a row, such as 0 to 16"},
    {"{\"x\":[[0,0,0],[0,0,0],[0,0,0]],\"y\":[[1,0,0],[0,1,0],[0,0,1]]}", "unique", "one_hot:dim=3",
     "One-hot position, added to x", NULL, "to the last bit"},
};

TestSuite(identify_added, .timeout = 60);

Test(identify_added, names_the_codes_of_the_definitions)
{
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++) {
        const struct question *at = &questions[i];
        json_t *answer = call_ask(PATH, at->body, 200), *best = json_object_get(answer, "best");
        json_t *open = json_array_get(json_object_get(answer, "ambiguous"), 0);
        cr_expect_str_eq(call_text(answer, "confidence"), at->confidence, "%s", at->body);
        cr_expect_str_eq(call_text(best, "compact"), at->compact);
        cr_expect(strstr(call_text(best, "says"), at->says), "%s", call_text(best, "says"));
        cr_expect_str_eq(call_text(open, "key"), at->key ? at->key : "");
        cr_expect(json_is_false(json_object_get(answer, "identified")) == 0);
        expect_sentence(at->body, at->text);
        json_decref(answer);
    }
}

/* The same numbers in two heads, by no rule. */
Test(identify_added, says_that_a_table_may_have_been_added)
{
    static const char body[] = "{\"axes\":\"htd\",\"dtype\":\"f64\","
                               "\"x\":[[[1,2],[3,4],[5,6]],[[7,8],[9,1],[2,3]]],"
                               "\"y\":[[[1.3,2.9],[2.2,4.6],[5.7,6.1]],"
                               "[[7.3,8.9],[8.2,1.6],[2.7,3.1]]]}";
    json_t *answer = call_ask(PATH, body, 200);
    cr_expect_str_eq(call_text(answer, "confidence"), "none");
    json_decref(answer);
    expect_sentence(body, "something is added, perhaps a learned table");
}
