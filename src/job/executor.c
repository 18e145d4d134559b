#include "job/state.h"

#include "base/clock.h"
#include "base/log.h"
#include "overlay/image.h"

#include <stdio.h>
#include <stdlib.h>

enum { COLUMNS = 4, FAILURES_MAX = 3 /* in a row, then the array is left alone */ };
#define WEIGHT_BYTES (UINT64_C(4) << 30)

static int make_pdi(struct tw_executor *a, struct tw_error *err)
{
    const double before = tw_seconds();
    const int code = tw_overlay_job_image(tw_overlay_pdi, &a->pdi, &a->pdi_bytes, err);
    a->image_seconds = tw_seconds() - before;
    return code;
}

static int take_context(struct tw_executor *a, struct tw_error *err)
{
    const struct tw_program program = {.pdi = a->pdi, .bytes = a->pdi_bytes};
    int code = tw_context_create(a->device, COLUMNS, &program, 1, &a->context, err);
    if (code == 0)
        a->contexts++;
    return code;
}

static void note(void *arg, const char *sentence)
{
    (void)arg;
    tw_note("%s", sentence);
}

static int make_store(struct tw_executor *a, uint64_t budget, struct tw_error *err)
{
    const struct tw_store_memory memory = {.take = slabs_take, .give = slabs_give, .arg = &a->slabs};
    return tw_store_create(&memory, budget != 0 ? budget : WEIGHT_BYTES, &a->store, err);
}

int tw_executor_open(struct tw_device *device, const struct tw_executor_options *options, struct tw_executor **array,
                     struct tw_error *err)
{
    *array = NULL;
    struct tw_executor *a = calloc(1, sizeof *a);
    if (a == NULL)
        return tw_fail(err, TW_E_MEMORY, "no memory for an array");
    const struct tw_executor_options o = options != NULL ? *options : (struct tw_executor_options){0};
    a->device = device;
    a->verify = o.verify;
    a->warn = o.warn != NULL ? o.warn : note;
    a->arg = o.arg;
    pthread_mutex_init(&a->lock, NULL);
    slabs_init(&a->slabs, device);
    int code = make_pdi(a, err);
    if (code == 0)
        code = take_context(a, err);
    if (code == 0)
        code = tw_buffer_create(device, 1, &a->keeper, err);
    if (code == 0)
        code = make_store(a, o.weight_bytes, err);
    if (code < 0)
        tw_executor_close(a);
    else
        *array = a;
    return code;
}

void tw_executor_close(struct tw_executor *a)
{
    if (a == NULL)
        return;
    tw_store_destroy(a->store);
    slabs_destroy(&a->slabs);
    tw_context_destroy(a->context);
    tw_buffer_destroy(a->keeper);
    pthread_mutex_destroy(&a->lock);
    free(a->pdi);
    free(a);
}

void tw_executor_forget(struct tw_executor *array, const void *from, size_t bytes)
{
    tw_store_forget(array->store, from, bytes);
}

/* Another thread must not give the context back in between. */
int executor_job_create(struct tw_executor *a, const void *code, size_t bytes, struct tw_job **job, uint64_t *context,
                        struct tw_error *err)
{
    pthread_mutex_lock(&a->lock);
    int result = a->is_left_alone ? tw_fail(err, TW_E_LOST, "the array is left alone")
                                  : tw_job_create(a->context, 0, code, bytes, job, err);
    *context = a->contexts;
    pthread_mutex_unlock(&a->lock);
    return result;
}

uint64_t executor_context(struct tw_executor *a)
{
    pthread_mutex_lock(&a->lock);
    const uint64_t number = a->contexts;
    pthread_mutex_unlock(&a->lock);
    return number;
}

int executor_is_left_alone(struct tw_executor *a)
{
    pthread_mutex_lock(&a->lock);
    const int is = a->is_left_alone;
    pthread_mutex_unlock(&a->lock);
    return is;
}

void executor_worked(struct tw_executor *a)
{
    pthread_mutex_lock(&a->lock);
    a->failures = 0;
    a->is_renewed = 0;
    pthread_mutex_unlock(&a->lock);
}

/*
 * After a hang the driver makes the context anew by itself. When that does not help, one that is new to the driver too
 * may; once, until something has worked again.
 */
static int needs_context(const struct tw_executor *a, int code)
{
    const int may_help = code == TW_E_LOST || (a->failures > 1 && (code == TW_E_TIMEOUT || code == TW_E_REFUSED));
    return may_help && !a->is_renewed;
}

static void renew(struct tw_executor *a)
{
    a->is_renewed = 1;
    tw_context_destroy(a->context);
    a->context = NULL;
    if (take_context(a, NULL) < 0)
        a->is_left_alone = 1;
}

static void tell(const struct tw_executor *a, const char *what, const struct tw_error *why)
{
    char sentence[sizeof why->text + 200];
    snprintf(sentence, sizeof sentence, "%s: %s (%s)", what, why->text, tw_code_name(why->code));
    a->warn(a->arg, sentence);
}

static void count_failure(struct tw_executor *a, int code)
{
    a->failures++;
    if (needs_context(a, code))
        renew(a);
    else if (code == TW_E_LOST || a->failures >= FAILURES_MAX)
        a->is_left_alone = 1;
}

/*
 * A command that was dropped because another one hung says nothing new of the device, nor does one of a context that
 * has been replaced meanwhile, nor a lack of memory, nor a launch that is too large for the driver.
 */
static int is_of_device(const struct tw_executor *a, uint64_t context, int code)
{
    switch (code) {
    case TW_E_ABORTED:
    case TW_E_HEAP:
    case TW_E_MEMORY:
    case TW_E_ARGUMENT:
    case TW_E_LIMIT:
    case TW_E_SHAPE:
    case TW_E_UNSUPPORTED:
        return 0;
    default:
        return context == a->contexts;
    }
}

void executor_failed(struct tw_executor *a, uint64_t context, const struct tw_error *why)
{
    pthread_mutex_lock(&a->lock);
    const int was_left_alone = a->is_left_alone, first = !a->is_warned;
    if (!was_left_alone && is_of_device(a, context, why->code))
        count_failure(a, why->code);
    a->is_warned = 1;
    const int is_last = a->is_left_alone && !was_left_alone;
    pthread_mutex_unlock(&a->lock);
    if (first)
        tell(a, "a launch on the NPU failed, and the CPU computes it", why);
    if (is_last)
        tell(a, "the NPU is left alone from now on, and the CPU computes everything", why);
}

int executor_must_verify(struct tw_executor *a)
{
    pthread_mutex_lock(&a->lock);
    const int is_proved = a->is_proved;
    pthread_mutex_unlock(&a->lock);
    return a->verify == TW_VERIFY_ALL || (a->verify == TW_VERIFY_FIRST && !is_proved);
}

void executor_is_proved(struct tw_executor *a)
{
    pthread_mutex_lock(&a->lock);
    a->is_proved = 1;
    pthread_mutex_unlock(&a->lock);
}
