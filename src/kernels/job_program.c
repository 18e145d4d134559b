#include "kernels/job_program.h"

#include "isa/rules.h"
#include "kernels/job.h"
#include "kernels/job_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the sources know by name. */
static const struct {
    const char *name;
    uint32_t value;
} symbols[] = {
    {"JOB_OWN", TW_LOCK_OWN},
    {"JOB_A_EMPTY", TW_JOB_A_EMPTY},
    {"JOB_A_FULL", TW_JOB_A_FULL},
    {"JOB_B_EMPTY", TW_JOB_B_EMPTY},
    {"JOB_B_FULL", TW_JOB_B_FULL},
    {"JOB_C_EMPTY", TW_JOB_C_EMPTY},
    {"JOB_C_FULL", TW_JOB_C_FULL},
    {"JOB_A0", TW_JOB_DATA + TW_JOB_A0},
    {"JOB_A1", TW_JOB_DATA + TW_JOB_A1},
    {"JOB_B0", TW_JOB_DATA + TW_JOB_B0},
    {"JOB_B1", TW_JOB_DATA + TW_JOB_B1},
    {"JOB_SCRATCH", TW_JOB_DATA + TW_JOB_SCRATCH},
    {"JOB_STEPS", TW_JOB_STEPS},
    {"JOB_FLAGS", TW_JOB_FLAGS},
    {"JOB_M", TW_JOB_M},
    {"JOB_N", TW_JOB_N},
    {"JOB_C", TW_JOB_C},
    {"JOB_BEFORE", TW_JOB_BEFORE},
    {"JOB_BEHIND", TW_JOB_BEHIND},
    {"JOB_BIAS", TW_JOB_BIAS},
    {"JOB_ADD_BIAS", TW_JOB_ADD_BIAS},
    {"JOB_GELU", TW_JOB_GELU},
    {"JOB_BF16", TW_JOB_BF16},
    {"JOB_TRANSPOSED", TW_JOB_TRANSPOSED},
    {"JOB_ADDEND", TW_JOB_ADDEND},
    {"JOB_UNIT", TW_JOB_UNIT},
};

enum { SYMBOLS = sizeof symbols / sizeof symbols[0], LINE = 64, HEAD = (SYMBOLS + 1) * LINE };

struct made {
    struct tw_job_program program;
    struct tw_assembly *assembly;
    char head[HEAD]; /* the assembly points into it */
    uint8_t bytes[TW_PROGRAM_BYTES];
};

static size_t write_head(char head[HEAD])
{
    size_t at = 0;

    for (size_t i = 0; i < SYMBOLS; i++)
        at += (size_t)snprintf(head + at, HEAD - at, ".set %s, 0x%" PRIx32 "\n", symbols[i].name, symbols[i].value);
    return at + (size_t)snprintf(head + at, HEAD - at, ".include \"job_loop.s\"\n");
}

static int include(void *arg, const char *name, const char *from, struct tw_as_text *text, struct tw_error *err)
{
    (void)arg;
    (void)from;
    for (size_t i = 0; i < tw_job_text_count; i++)
        if (strcmp(name, tw_job_texts[i].name) == 0) {
            *text = (struct tw_as_text){name, tw_job_texts[i].text, tw_job_texts[i].size};
            return 0;
        }
    return tw_fail(err, TW_E_NOT_FOUND, "the job program has no source \"%s\"", name);
}

static int take_section(struct made *made, struct tw_error *err)
{
    const struct tw_assembly *assembly = made->assembly;

    if (assembly->n_sections != 1 || assembly->sections[0].kind != TW_SECTION_TEXT ||
        assembly->sections[0].address != 0 || assembly->sections[0].size > sizeof made->bytes)
        return tw_fail(err, TW_E_FORMAT, "the job program is not one text section from address 0 within %d bytes",
                       TW_PROGRAM_BYTES);
    memcpy(made->bytes, assembly->sections[0].bytes, assembly->sections[0].size);
    made->program = (struct tw_job_program){.bytes = made->bytes,
                                            .size = (assembly->sections[0].size + 3u) & ~(size_t)3,
                                            .old = assembly->old,
                                            .n_old = assembly->n_old,
                                            .assembly = assembly};
    return 0;
}

int tw_job_program_make(struct tw_job_program **program, struct tw_error *err)
{
    struct tw_as_options options = {.include = include, .one_program = 1};
    struct made *made = calloc(1, sizeof *made);

    *program = NULL;
    if (made == NULL)
        return tw_fail(err, TW_E_MEMORY, "no memory for the job program");
    int code = tw_assemble("job.s", made->head, write_head(made->head), &options, &made->assembly, err);
    if (code == 0)
        code = take_section(made, err);
    if (code != 0) {
        tw_job_program_free(&made->program);
        return code;
    }
    *program = &made->program;
    return 0;
}

void tw_job_program_free(struct tw_job_program *program)
{
    struct made *made = (struct made *)program; /* its first member */

    if (made == NULL)
        return;
    tw_assembly_free(made->assembly);
    free(made);
}
