#include "emu/driver/copy_bench.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

void copy_bench_create(struct copy_bench *b, const struct tw_emu_driver_options *options)
{
    struct tw_emu_driver_options o = options != NULL ? *options : (struct tw_emu_driver_options){0};
    o.coherent = 1;
    rig_with_heap(&b->rig, &o);
    b->context = rig_context(&b->rig, 4);
    b->command = rig_buffer(&b->rig, TW_XDNA_COMMAND, 4096);
    b->in = rig_buffer(&b->rig, TW_XDNA_SHARE, 4096);
    b->out = rig_buffer(&b->rig, TW_XDNA_SHARE, 4096);
    b->code = rig_code(&b->rig, DO_COPY, 64);
    b->handles[0] = b->in.handle;
    b->handles[1] = b->out.handle;
    memset(b->in.host, 7, 64);
    rig_packet(&b->command, &b->code, (struct rig_buffer[]){b->in, b->out}, 2);
}

void copy_bench_free(struct copy_bench *b)
{
    rig_unmap(&b->rig, &b->command);
    rig_unmap(&b->rig, &b->in);
    rig_unmap(&b->rig, &b->out);
    rig_free(&b->rig);
}

enum tw_packet_state copy_bench_run(struct copy_bench *b, uint32_t n_arguments)
{
    uint64_t sequence;
    assert_int_equal(rig_submit(&b->rig, b->context.handle, &b->command, b->handles, n_arguments, &sequence), 0);
    assert_int_equal(rig_wait(&b->rig, b->context.syncobj, sequence, INT64_MAX), 0);
    return tw_packet_state(rig_word(&b->command, 0));
}
