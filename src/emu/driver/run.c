/* One command from its turn to its end. */
#include "base/little_endian.h"
#include "emu/cycles.h"
#include "emu/driver/state.h"
#include "emu/fault.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    NS_OF_CYCLE = 1,  /* the array's clock is 1 GHz */
    REARM_FACTOR = 8, /* so many times the hang time a command is followed when others may make the driver wait on */
    TRANSACTION_OPCODE = TW_XDNA_KERNEL_TXN,
    TRANSACTION_HEAD = 16, /* bytes, the last four of them the whole's size */
    TRANSACTION_SIZE = 12
};

struct run {
    struct tw_drv_partition *partition;
    struct tw_drv_job *job;
    struct tw_drv_context *context;
    struct tw_emu_driver *driver;
    struct tw_drv_window window;
    struct tw_drv_slot slot;
    uint64_t limit;
    struct tw_emu_figures figures; /* of its parts so far */
    uint64_t longest;              /* cycles of one of them */
    uint64_t load_ns;
    enum tw_emu_end end;
    unsigned index; /* of the command that failed */
    struct tw_error err;
};

static void say(struct run *run, const char *what, uint32_t status)
{
    tw_drv_log(run->driver, "context %u, command %llu: %s (status 0x%x)%s%s", run->context->handle,
               (unsigned long long)run->job->sequence, what, status, run->err.text[0] != 0 ? ": " : "", run->err.text);
}

static enum tw_emu_end fail(struct run *run, uint32_t status, const char *what)
{
    say(run, what, status);
    return TW_EMU_FAILED;
}

static enum tw_emu_end firmware_ready(struct run *run)
{
    struct tw_drv_partition *p = run->partition;
    struct tw_drv_context *c = run->context;
    if (p->owner != c && p->owner != NULL)
        tw_drv_context_stop(p->owner); /* its tiles are overwritten */
    p->owner = c;
    if (c->firmware != NULL)
        return TW_EMU_DONE;
    struct tw_host_memory memory = tw_drv_views_memory(c);
    int r = run->driver->firmware.create(run->driver->firmware.arg, c->columns, &memory, &c->firmware, &run->err);
    return r < 0 ? fail(run, DRV_STATUS_LOAD_FAILED, "the array cannot be set up") : TW_EMU_DONE;
}

/* The firmware reads a PDI when a command first names it. */
static enum tw_emu_end load_program(struct run *run, struct tw_drv_cu *cu)
{
    const struct tw_drv_file *file = run->context->file;
    size_t bytes = (size_t)tw_ranges_size(&file->heap_space, cu->place);
    if (bytes == 0)
        return fail(run, DRV_STATUS_LOAD_FAILED, "the buffer with the PDI is gone");
    cu->bytes = malloc(bytes);
    if (cu->bytes == NULL)
        return fail(run, DRV_STATUS_LOAD_FAILED, "out of memory");
    memcpy(cu->bytes, file->heap->device + cu->place, bytes);
    int r = run->driver->firmware.add_program(run->context->firmware, cu->bytes, bytes, &run->err);
    if (r >= 0) {
        cu->program = r;
        return TW_EMU_DONE;
    }
    free(cu->bytes);
    cu->bytes = NULL;
    return fail(run, DRV_STATUS_LOAD_FAILED, "the PDI cannot be loaded");
}

/* Copies control code out of the heap. A transaction says itself how long it is. */
static enum tw_emu_end read_code(struct run *run, unsigned char **code, size_t *bytes)
{
    const struct tw_drv_slot *slot = &run->slot;
    const unsigned char *heap = run->context->file->heap->device;
    *code = NULL;
    *bytes = 0;
    if (slot->opcode != TRANSACTION_OPCODE && slot->code_bytes == 0)
        return TW_EMU_DONE;
    if (slot->code < TW_XDNA_HEAP_ADDRESS || slot->code - TW_XDNA_HEAP_ADDRESS > TW_XDNA_HEAP_BYTES - TRANSACTION_HEAD)
        return fail(run, DRV_STATUS_BAD_BUFFER, "the control code is not in the heap");
    uint64_t place = slot->code - TW_XDNA_HEAP_ADDRESS;
    uint64_t size = slot->code_bytes;
    if (slot->opcode == TRANSACTION_OPCODE)
        size = tw_load_u32(heap + place + TRANSACTION_SIZE);
    if (size > TW_XDNA_HEAP_BYTES - place)
        return fail(run, DRV_STATUS_BAD_BUFFER, "the control code goes past the end of the heap");
    *code = malloc((size_t)size + 1);
    if (*code == NULL)
        return fail(run, DRV_STATUS_BAD_BUFFER, "out of memory");
    memcpy(*code, heap + place, (size_t)size);
    *bytes = (size_t)size;
    return TW_EMU_DONE;
}

static void add_figures(struct run *run, const struct tw_emu_figures *part)
{
    struct tw_emu_figures *sum = &run->figures;
    if (sum->bound == NULL || part->cycles > run->longest) {
        sum->bound = part->bound;
        run->longest = part->cycles;
    }
    sum->cycles += part->cycles;
    sum->launch_cycles += part->launch_cycles;
    sum->wait_cycles += part->wait_cycles;
    sum->read_bytes += part->read_bytes;
    sum->write_bytes += part->write_bytes;
}

/* The one place where the lock is let go while a command runs. */
static enum tw_emu_end run_firmware(struct run *run, int program, const unsigned char *code, size_t bytes)
{
    struct tw_emu_driver *driver = run->driver;
    struct tw_emu_work work = {
        .program = program,
        .opcode = run->slot.opcode,
        .host_patched = run->slot.host_patched,
        .code = code,
        .code_bytes = bytes,
        .buffers = run->slot.buffers,
        .n_buffers = run->slot.n_buffers,
        .limit = run->limit - run->figures.cycles,
    };
    struct tw_emu_result result = {.end = TW_EMU_HUNG};
    void *firmware = run->context->firmware;
    run->context->reached_beyond = 0;
    uint64_t flipped = tw_fault_count(driver->options.faults, TW_FAULT_BIT);
    pthread_mutex_unlock(&driver->lock);
    (void)driver->firmware.run(firmware, &work, &result, &run->err); /* how it ended is in the result */
    pthread_mutex_lock(&driver->lock);
    add_figures(run, &result.figures);
    run->load_ns += result.loaded ? TW_NS_PDI_LOAD : 0;
    if (tw_fault_count(driver->options.faults, TW_FAULT_BIT) > flipped)
        say(run, "bits of its results were flipped, a fault on purpose", result.status);
    if (result.end != TW_EMU_DONE && run->context->reached_beyond) {
        run->context->has_unlisted = 1;
        run->context->last_unlisted = run->job->sequence;
    }
    if (result.end != TW_EMU_DONE)
        say(run, result.end == TW_EMU_HUNG ? "no answer" : "failed", result.status);
    return result.end;
}

static enum tw_emu_end run_slot(struct run *run, size_t *at)
{
    unsigned char *code;
    size_t bytes;
    run->err = (struct tw_error){0};
    uint32_t status = tw_drv_slot_next(&run->window, run->driver->options.old_firmware, at, &run->slot);
    if (status != 0)
        return fail(run, status, "the command is malformed");
    if (run->slot.cu >= run->context->n_cus)
        return fail(run, DRV_STATUS_LOAD_FAILED, "its CU is not configured");
    struct tw_drv_cu *cu = &run->context->cus[run->slot.cu];
    enum tw_emu_end end = cu->program < 0 ? load_program(run, cu) : TW_EMU_DONE;
    if (end == TW_EMU_DONE)
        end = read_code(run, &code, &bytes);
    if (end != TW_EMU_DONE)
        return end;
    end = run_firmware(run, cu->program, code, bytes);
    free(code);
    return end;
}

static enum tw_emu_end run_slots(struct run *run)
{
    size_t at = 0;
    enum tw_emu_end end = firmware_ready(run);
    for (unsigned i = 0; i < run->window.commands && end == TW_EMU_DONE && !run->job->aborted; i++) {
        run->index = i;
        end = run_slot(run, &at);
        if (end == TW_EMU_DONE && run->figures.cycles >= run->limit)
            end = TW_EMU_HUNG;
    }
    return end;
}

static int others_exist(const struct run *run)
{
    return run->driver->n_contexts > 1;
}

static enum tw_emu_end run_command(struct run *run)
{
    struct tw_emu_driver *driver = run->driver;
    uint64_t patience = driver->options.hangs_for_ever ? TW_XDNA_HANG_MS : driver->options.hang_ms;
    run->limit = patience * 1000000 / NS_OF_CYCLE * (others_exist(run) ? REARM_FACTOR : 1) + 1;
    if (driver->hangs > 0) {
        driver->hangs--;
        return TW_EMU_HUNG;
    }
    if (run->context->file->heap->host_address == TW_XDNA_NOWHERE) {
        say(run, "no answer: the heap is not mapped any more", 0);
        return TW_EMU_HUNG;
    }
    if (tw_drv_views_make(run->job) < 0)
        return fail(run, DRV_STATUS_BAD_BUFFER, "out of memory");
    enum tw_emu_end end = run_slots(run);
    tw_drv_views_drop(run->context);
    for (size_t i = 0; i < run->job->n_arguments; i++)
        tw_drv_memory_after(run->job->arguments[i]);
    return end;
}

static void signal_activity(struct tw_emu_driver *driver, uint64_t time)
{
    if (time > driver->last_signal)
        driver->last_signal = time;
}

static void abort_job(struct tw_drv_job *job, uint64_t time)
{
    tw_drv_packet_fail(job, 0, TW_PACKET_ABORT);
    job->context->errors++;
    tw_drv_job_done(job, time);
}

/* What the context has handed over is lost; a packet that could not be handed over stays as it is. */
static void abort_queued(struct run *run, uint64_t time)
{
    while (run->context->jobs != NULL) {
        struct tw_drv_job *job = run->context->jobs;
        if (tw_drv_hand_over(job, &run->window) == 0)
            abort_job(job, time);
        else
            tw_drv_job_done(job, time);
    }
}

static void recover(struct run *run)
{
    struct tw_drv_context *context = run->context;
    uint64_t time = run->partition->time;
    tw_drv_log(run->driver, "context %u: command %llu timed out", context->handle,
               (unsigned long long)run->job->sequence);
    tw_drv_context_stop(context);
    if (run->driver->options.recovery == TW_EMU_STAYS_REFUSED)
        run->driver->refuses = 1;
    tw_drv_packet_fail(run->job, 0, TW_PACKET_TIMEOUT);
    context->errors++;
    tw_drv_context_restart(context);
    tw_drv_job_done(run->job, time);
    abort_queued(run, time);
}

static void complete(struct run *run)
{
    uint64_t time = run->partition->time;
    if (run->end == TW_EMU_DONE) {
        uint64_t sequence = run->job->sequence;
        run->context->done[sequence % TW_EMU_FIGURES_KEPT] = (struct tw_drv_done){sequence + 1, run->figures};
        tw_drv_packet_set_state(run->job->command, TW_PACKET_COMPLETED);
    } else {
        tw_drv_packet_fail(run->job, run->index, TW_PACKET_ERROR);
        run->context->errors++;
    }
    signal_activity(run->driver, time);
    tw_drv_job_done(run->job, time);
}

static void finish(struct run *run)
{
    struct tw_drv_partition *p = run->partition;
    uint64_t end = p->time + run->figures.cycles * NS_OF_CYCLE + run->load_ns;
    int late = tw_drv_hang(p, run->job, run->end == TW_EMU_HUNG ? DRV_NEVER : end);
    if (run->job->aborted || (late && run->driver->options.hangs_for_ever))
        abort_job(run->job, p->time);
    else if (late)
        recover(run);
    else
        complete(run);
}

void tw_drv_run(struct tw_drv_partition *p, struct tw_drv_job *job)
{
    struct run *run = calloc(1, sizeof *run);
    struct tw_drv_context *context = job->context;
    if (job->submitted > p->time)
        p->time = job->submitted;
    if (run == NULL || job->aborted || (context->dying && p->time >= context->deadline)) {
        abort_job(job, p->time);
        free(run);
        return;
    }
    run->partition = p;
    run->job = job;
    run->context = context;
    run->driver = p->driver;
    int r = context->channel_lost ? -ENODEV : tw_drv_hand_over(job, &run->window);
    if (r < 0) {
        tw_drv_log(p->driver, "context %u, command %llu is not handed over: %s", context->handle,
                   (unsigned long long)job->sequence, strerror(-r));
        tw_drv_job_done(job, p->time);
    } else {
        signal_activity(p->driver, p->time);
        run->end = run_command(run);
        finish(run);
    }
    free(run);
}
