/*
 * Files with programs of cores: the first byte tells what the rest is (enum input_kind), so that checksums and headers
 * do not keep the fuzzer from what is behind them.
 */
#include "fuzz/image_kinds.h"

#include "base/little_endian.h"
#include "cli/core_programs.h"
#include "image/core_elf.h"
#include "image/make_image.h"
#include "image/pdi.h"
#include "image/touch.h"
#include "image/xclbin.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int holds)
{
    if (!holds)
        abort();
}

/* A failure has a sentence; success has none. */
static int checked(int code, const struct tw_error *err)
{
    require(code <= 0 && code == err->code && (code < 0) == (err->text[0] != '\0'));
    return code;
}

static FILE *nowhere(void)
{
    static FILE *file;
    if (file == NULL)
        file = fopen("/dev/null", "w");
    return file;
}

/* A tw_core_program_visit: runs lie in program memory, in order, and every byte of them is accounted for. */
static int visit(void *arg, const struct tw_core_program *p, struct tw_error *err)
{
    const struct tw_disassemble_options labels = {"at", p->old, p->n_old};
    struct tw_disassembly counted, written;
    uint32_t behind = 0;
    (void)arg;
    for (size_t i = 0; i < p->n_runs; i++) {
        require(p->runs[i].size > 0 && p->runs[i].address >= behind);
        behind = p->runs[i].address + (uint32_t)p->runs[i].size;
    }
    require(behind <= TW_PROGRAM_BYTES);
    int code = tw_disassemble(p->runs, p->n_runs, &labels, nowhere(), &written, err);
    require(code == 0);
    require(tw_disassemble(p->runs, p->n_runs, &labels, NULL, &counted, NULL) == 0);
    require(memcmp(&counted, &written, sizeof counted) == 0);
    return 0;
}

/* What was read can be written, and is then read as the same. */
static void rewrite_elf(const struct tw_view *view)
{
    static struct tw_core_elf elf, again;
    struct tw_elf_symbol symbols[32];
    struct tw_error err = {0};
    unsigned char *file;
    struct tw_elf_old reads[64], read;
    size_t size, n_symbols = 0, n_reads = 0, from = 0, to = 0;
    if (checked(tw_core_elf_open(view, &elf, &err), &err) < 0)
        return;
    for (uint32_t i = 0; i < elf.n_symbols && i < 32; i++)
        tw_core_elf_symbol(&elf, i, &symbols[n_symbols++]);
    while (n_reads < 64 && tw_core_elf_old(&elf, &from, &reads[n_reads]))
        n_reads++;
    const struct tw_elf_program program = {elf.segments, elf.n_segments, symbols, n_symbols, reads, n_reads};
    require(tw_core_elf_write(&program, &file, &size, &err) == 0);
    struct tw_view written = {file, size, "written", 0};
    require(tw_core_elf_open(&written, &again, &err) == 0);
    require(again.n_segments == elf.n_segments && again.n_symbols == n_symbols + 1);
    for (uint32_t i = 0; i < elf.n_segments; i++) {
        const struct tw_elf_segment *a = &elf.segments[i], *b = &again.segments[i];
        require(a->address == b->address && a->bytes == b->bytes && a->data.size == b->data.size);
        require(a->data.size == 0 || memcmp(a->data.data, b->data.data, a->data.size) == 0);
    }
    for (size_t i = 0; i < n_reads; i++)
        require(tw_core_elf_old(&again, &to, &read) && read.address == reads[i].address &&
                strcmp(read.name, reads[i].name) == 0);
    require(!tw_core_elf_old(&again, &to, &read));
    free(file);
}

static void sign_cdo(unsigned char *cdo, size_t size)
{
    uint32_t sum = 0;
    if (size < 20)
        return;
    for (size_t i = 0; i < 4; i++)
        sum += tw_load_u32(cdo + 4 * i);
    tw_store_u32(cdo + 16, ~sum);
}

static void read_all(unsigned char *data, size_t size)
{
    struct tw_view view = {data, size, "input", 0};
    struct tw_error err = {0};
    checked(tw_core_programs(&view, visit, NULL, &err), &err);
    err = (struct tw_error){0};
    if (tw_xclbin_recognise(&view))
        checked(touch_xclbin(&view, &err), &err);
    else if (tw_pdi_recognise(&view))
        checked(touch_pdi(&view, &err), &err);
    else if (tw_elf_recognise(&view))
        rewrite_elf(&view);
}

static void run_kind(unsigned kind, struct made *m)
{
    struct tw_error err = {0};
    if (kind == INPUT_PDI && m->size >= 0x150) {
        pdi_sign(m->data);
        sign_cdo(m->data + 0x150, m->size - 0x150);
    }
    if (kind == INPUT_PROGRAM) {
        const struct tw_code_run run = {0, m->data, m->size < TW_PROGRAM_BYTES ? m->size : TW_PROGRAM_BYTES};
        visit(NULL, &(struct tw_core_program){-1, -1, -1, &run, run.size > 0, NULL, 0}, &err);
        return;
    }
    /* A block of exactly this size, so that the sanitizer sees a read past its end. */
    unsigned char *file = malloc(m->size + 1);
    require(file != NULL);
    if (m->size > 0)
        memcpy(file + 1, m->data, m->size);
    read_all(file + 1, m->size);
    free(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct made m = {0};
    if (size == 0)
        return 0;
    unsigned kind = data[0];
    if (kind == INPUT_COMMANDS)
        cdo_begin(&m);
    made_bytes(&m, data + 1, size - 1);
    if (kind == INPUT_COMMANDS)
        cdo_end(&m, 0);
    run_kind(kind, &m);
    made_free(&m);
    return 0;
}
