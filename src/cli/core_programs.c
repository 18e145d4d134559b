#include "cli/core_programs.h"

#include "image/aie_partition.h"
#include "image/core_elf.h"
#include "image/pdi.h"
#include "npu1/program_memory.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* In all sections of a file: several may lie at the same place, and a small file could ask for endless work. */
#define PDIS_MAX TW_AIE_PDIS_MAX

#define RUNS_MAX (TW_CORE_PROGRAM_BYTES / 8) /* every other word written */

struct walk {
    tw_core_program_visit *visit; /* NULL: only check */
    void *arg;
    int n_pdis;
    struct tw_code_run runs[RUNS_MAX];
};

/* ---- CDO, PDI */

static int visit_memory(struct walk *w, int pdi, unsigned column, unsigned row, const struct tw_program_memory *memory,
                        struct tw_error *err)
{
    struct tw_core_program program = {pdi, (int)column, (int)row, w->runs, 0, NULL, 0};
    uint32_t at = 0, bytes;

    while ((bytes = tw_program_memory_run(memory, &at)) != 0)
        w->runs[program.n_runs++] = (struct tw_code_run){at - bytes, memory->bytes + at - bytes, bytes};
    return w->visit(w->arg, &program, err);
}

static int visit_memories(struct walk *w, int pdi, const struct tw_program_memories *memories, struct tw_error *err)
{
    for (unsigned column = 0; column < TW_NPU1_COLUMNS; column++)
        for (unsigned row = 0; row < TW_NPU1_CORE_ROWS; row++) {
            const struct tw_program_memory *memory = memories->cores[column][row];
            if (memory == NULL)
                continue;
            int code = visit_memory(w, pdi, column, row + TW_NPU1_CORE_ROW, memory, err);
            if (code != 0)
                return code;
        }
    return TW_OK;
}

static int write_cdo(struct tw_program_memories *memories, const struct tw_view *view, struct tw_error *err)
{
    struct tw_cdo cdo;
    int code = tw_cdo_open(view, &cdo, err);
    return code < 0 ? code : tw_program_memories_write(memories, &cdo, err);
}

static int finish_memories(struct walk *w, int pdi, struct tw_program_memories *memories, int code,
                           struct tw_error *err)
{
    if (code == 0 && w->visit != NULL)
        code = visit_memories(w, pdi, memories, err);
    tw_program_memories_free(memories);
    return code;
}

static int walk_cdo(struct walk *w, const struct tw_view *view, struct tw_error *err)
{
    struct tw_program_memories memories = {0};
    int code = write_cdo(&memories, view, err);
    return finish_memories(w, -1, &memories, code, err);
}

static int walk_pdi(struct walk *w, const struct tw_view *view, struct tw_error *err)
{
    struct tw_program_memories memories = {0};
    struct tw_pdi pdi;
    int code = tw_pdi_open(view, &pdi, err);
    if (code < 0)
        return code;
    if (pdi.id_code != TW_NPU1_ID_CODE)
        return tw_view_fail(view, 0, TW_E_UNSUPPORTED, err,
                            "this PDI is for the device 0x%" PRIx32 ", not for NPU1 (0x%x)", pdi.id_code,
                            TW_NPU1_ID_CODE);
    for (uint32_t i = 0; code == 0 && i < pdi.n_partitions; i++) {
        struct tw_pdi_partition partition;
        tw_pdi_partition(&pdi, i, &partition);
        code = write_cdo(&memories, &partition.data, err);
    }
    return finish_memories(w, w->n_pdis++, &memories, code, err);
}

/* ---- xclbin */

static int walk_partition(struct walk *w, const struct tw_view *view, struct tw_error *err)
{
    struct tw_aie_partition partition;
    int code = tw_aie_partition_open(view, &partition, err);
    if (code == 0 && partition.n_pdis > (uint32_t)(PDIS_MAX - w->n_pdis))
        return tw_view_fail(view, 0, TW_E_LIMIT, err, "%" PRIu32 " PDIs; at most %d in a file are read",
                            partition.n_pdis, PDIS_MAX);
    for (uint32_t i = 0; code == 0 && i < partition.n_pdis; i++) {
        struct tw_aie_pdi pdi;
        tw_aie_partition_pdi(&partition, i, &pdi);
        code = walk_pdi(w, &pdi.image, err);
    }
    return code;
}

static int walk_xclbin(struct walk *w, const struct tw_view *view, struct tw_error *err)
{
    struct tw_xclbin xclbin;
    int found = 0;
    int code = tw_xclbin_open(view, &xclbin, err);
    for (uint32_t i = 0; code == 0 && i < xclbin.n_sections; i++) {
        struct tw_xclbin_section section;
        tw_xclbin_section(&xclbin, i, &section);
        if (section.kind != TW_XCLBIN_AIE_PARTITION)
            continue;
        found = 1;
        code = walk_partition(w, &section.data, err);
    }
    if (code == 0 && !found)
        return tw_view_fail(view, 0, TW_E_UNSUPPORTED, err,
                            "none of this xclbin's %" PRIu32 " sections is an AIE_PARTITION; it is not for an NPU",
                            xclbin.n_sections);
    return code;
}

/* ---- ELF */

/* Joins segments without a gap between them, since a bundle may lie in two. The rest behind a segment's data is zero.
 */
static size_t join_segments(struct walk *w, const struct tw_core_elf *elf, unsigned char *memory)
{
    size_t n = 0;
    for (uint32_t i = 0; i < elf->n_segments && tw_elf_is_program(&elf->segments[i]); i++) {
        const struct tw_elf_segment *s = &elf->segments[i];
        if (s->data.size > 0)
            memcpy(memory + s->address, s->data.data, s->data.size);
        if (n > 0 && w->runs[n - 1].address + w->runs[n - 1].size == s->address)
            w->runs[n - 1].size += s->bytes;
        else
            w->runs[n++] = (struct tw_code_run){s->address, memory + s->address, s->bytes};
    }
    return n;
}

static int compare_old(const void *left, const void *right)
{
    const struct tw_code_old *a = left, *b = right;
    return a->address != b->address ? (a->address > b->address) - (a->address < b->address)
                                    : (a->name > b->name) - (a->name < b->name); /* as in the file */
}

/* The uses out of time in *old, to be freed. Returns their number; 0 also when there is no memory (*old is NULL). */
static size_t list_old(const struct tw_core_elf *elf, struct tw_code_old **old)
{
    struct tw_elf_old read;
    size_t n = 0;

    for (size_t at = 0; tw_core_elf_old(elf, &at, &read);)
        n++;
    *old = malloc((n + 1) * sizeof **old);
    if (*old == NULL)
        return 0;
    n = 0;
    for (size_t at = 0; tw_core_elf_old(elf, &at, &read); n++)
        (*old)[n] = (struct tw_code_old){read.address, read.name};
    qsort(*old, n, sizeof **old, compare_old);
    return n;
}

static int visit_elf(struct walk *w, const struct tw_core_elf *elf, struct tw_error *err)
{
    unsigned char *memory = calloc(1, TW_ELF_PROGRAM_BYTES);
    struct tw_code_old *old;
    size_t n_old = list_old(elf, &old);
    int code = TW_E_MEMORY;

    if (memory == NULL || old == NULL) {
        tw_fail(err, code, "no memory for the program of a core");
    } else {
        struct tw_core_program program = {-1, -1, -1, w->runs, join_segments(w, elf, memory), old, n_old};
        code = w->visit(w->arg, &program, err);
    }
    free(memory);
    free(old);
    return code;
}

static int walk_elf(struct walk *w, const struct tw_view *view, struct tw_error *err)
{
    struct tw_core_elf *elf = malloc(sizeof *elf);
    if (elf == NULL)
        return tw_fail(err, TW_E_MEMORY, "no memory to read an ELF file");
    int code = tw_core_elf_open(view, elf, err);
    if (code == 0 && w->visit != NULL)
        code = visit_elf(w, elf, err);
    free(elf);
    return code;
}

/* ---- */

static const struct container {
    int (*recognise)(const struct tw_view *view);
    int (*walk)(struct walk *w, const struct tw_view *view, struct tw_error *err);
} containers[] = {
    {tw_elf_recognise, walk_elf},
    {tw_xclbin_recognise, walk_xclbin},
    {tw_pdi_recognise, walk_pdi},
    {tw_cdo_recognise, walk_cdo},
};

static const struct container *find_container(const struct tw_view *file)
{
    for (size_t i = 0; i < sizeof containers / sizeof containers[0]; i++)
        if (containers[i].recognise(file))
            return &containers[i];
    return NULL;
}

int tw_core_programs(const struct tw_view *file, tw_core_program_visit *visit, void *arg, struct tw_error *err)
{
    const struct container *c = find_container(file);
    if (c == NULL)
        return tw_fail(err, TW_E_UNSUPPORTED,
                       "'%s' is neither an ELF file nor a CDO, a PDI or an xclbin; --raw takes any file as program "
                       "memory",
                       file->file);
    struct walk *w = calloc(1, sizeof *w);
    if (w == NULL)
        return tw_fail(err, TW_E_MEMORY, "no memory to read '%s'", file->file);
    w->arg = arg;
    int code = c->walk(w, file, err);
    if (code == 0) {
        w->visit = visit;
        w->n_pdis = 0;
        code = c->walk(w, file, err);
    }
    free(w);
    return code;
}
