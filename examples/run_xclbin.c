/*
 * Runs a program for the NPU: one input buffer, one output buffer.
 *
 *     cc -o run_xclbin run_xclbin.c $(pkg-config --cflags --libs tilewright)
 *     ./run_xclbin FILE.xclbin INSTS INPUT OUTPUT_BYTES OUTPUT
 *
 * Without an NPU: TILEWRIGHT_DEVICE=emu ./run_xclbin ...
 */
#include <tilewright.h>

#include <stdio.h>
#include <stdlib.h>

static void must(int code, const struct tw_error *err)
{
    if (code < 0) {
        fprintf(stderr, "%s: %s\n", tw_code_name(code), err->text);
        exit(1);
    }
}

static size_t read_file(const char *path, unsigned char *data, size_t room)
{
    FILE *file = fopen(path, "rb");
    size_t size = file != NULL ? fread(data, 1, room, file) : 0;
    if (file != NULL)
        fclose(file);
    return size;
}

int main(int argc, char **argv)
{
    static unsigned char code[1 << 22], input[1 << 26];
    struct tw_error err = {0};
    struct tw_device *npu;
    struct tw_context *context;
    struct tw_buffer *in, *out;
    struct tw_job *job;
    if (argc != 6)
        return 2;
    size_t code_bytes = read_file(argv[2], code, sizeof code), in_bytes = read_file(argv[3], input, sizeof input);

    must(tw_device_open(NULL, &npu, &err), &err);
    must(tw_context_load(npu, argv[1], 0, &context, &err), &err);
    must(tw_job_create(context, 0, code, code_bytes, &job, &err), &err);
    must(tw_buffer_create(npu, in_bytes, &in, &err), &err);
    must(tw_buffer_create(npu, strtoul(argv[4], NULL, 0), &out, &err), &err);
    for (size_t i = 0; i < in_bytes; i++)
        ((unsigned char *)tw_buffer_data(in))[i] = input[i];
    must(tw_buffer_to_npu(in, 0, in_bytes, &err), &err);
    must(tw_job_set_buffer(job, 0, in, &err), &err);
    must(tw_job_set_buffer(job, 1, out, &err), &err);
    must(tw_job_run(job, &err), &err);
    must(tw_buffer_from_npu(out, 0, tw_buffer_size(out), &err), &err);
    FILE *file = fopen(argv[5], "wb");
    int lost = file == NULL || fwrite(tw_buffer_data(out), tw_buffer_size(out), 1, file) != 1 || fclose(file) != 0;
    tw_job_destroy(job), tw_buffer_destroy(in), tw_buffer_destroy(out), tw_context_destroy(context),
        tw_device_close(npu);
    return lost;
}
