#include "job/array.h"

#include "base/clock.h"
#include "kernels/job_program.h"
#include "overlay/image.h"
#include "tilewright.h"

#include <stdlib.h>

enum { COLUMNS = 4 };

struct tw_array {
    struct tw_context *context;
    double image_seconds;
};

static int make_pdi(unsigned char **pdi, size_t *size, struct tw_error *err)
{
    struct tw_job_program *job = NULL;
    int code = tw_job_program_make(&job, err);
    if (code < 0)
        return code;
    const struct tw_overlay_piece piece = {0, {.data = job->bytes, .size = job->size, .file = "job program"}};
    const struct tw_overlay_program program = {&piece, 1};
    code = tw_overlay_pdi(&program, pdi, size, err);
    tw_job_program_free(job);
    return code;
}

int tw_array_open(struct tw_device *device, const struct tw_array_options *options, struct tw_array **array,
                  struct tw_error *err)
{
    unsigned char *pdi = NULL;
    size_t size = 0;
    (void)options;
    *array = NULL;
    struct tw_array *a = calloc(1, sizeof *a);
    if (a == NULL)
        return tw_fail(err, TW_E_MEMORY, "no memory for an array");
    const double before = tw_seconds();
    int code = make_pdi(&pdi, &size, err);
    a->image_seconds = tw_seconds() - before;
    const struct tw_program program = {.pdi = pdi, .bytes = size};
    if (code == 0)
        code = tw_context_create(device, COLUMNS, &program, 1, &a->context, err);
    free(pdi);
    if (code < 0)
        tw_array_close(a);
    else
        *array = a;
    return code;
}

void tw_array_close(struct tw_array *array)
{
    if (array == NULL)
        return;
    tw_context_destroy(array->context);
    free(array);
}

/* Nothing is packed yet. */
void tw_array_forget(struct tw_array *array, const void *from, size_t bytes)
{
    (void)array;
    (void)from;
    (void)bytes;
}
