#include "overlay/image.h"

#include "image/core_elf.h"
#include "image/xclbin_write.h"
#include "kernels/job_program.h"
#include "npu1/cdo_writer.h"
#include "npu1/tile.h"
#include "overlay/layout.h"
#include "overlay/routes.h"

#include <stdlib.h>

static void write_register(void *arg, uint32_t address, uint32_t mask, uint32_t value)
{
    struct tw_cdo_writer *w = arg;
    if (mask == UINT32_MAX)
        tw_cdo_writer_write(w, address, value);
    else
        tw_cdo_writer_mask_write(w, address, mask, value);
}

/* Own data memory as the core sees it. */
enum { OWN_DATA = TW_ELF_DATA_END - TW_ELF_DATA_WINDOW };

/* *offset = where a piece lies in a core's tile. */
static int place(const struct tw_overlay_piece *piece, uint32_t *offset, struct tw_error *err)
{
    const size_t size = piece->bytes.size;
    if (size % 4 == 0 && piece->address % 4 == 0) {
        if (piece->address < TW_CORE_PROGRAM_BYTES && size <= TW_CORE_PROGRAM_BYTES - piece->address) {
            *offset = TW_CORE_PROGRAM + piece->address;
            return 0;
        }
        if (piece->address >= OWN_DATA && piece->address < TW_ELF_DATA_END &&
            size <= TW_ELF_DATA_END - piece->address) {
            *offset = TW_CORE_DATA + (piece->address - OWN_DATA);
            return 0;
        }
    }
    return tw_fail(err, TW_E_ARGUMENT,
                   "the overlay cannot load %zu bytes of core program to address 0x%x: they must be whole words inside "
                   "program memory or the core's own data memory",
                   size, piece->address);
}

enum core_control { CORE_RESET = 2 };

static int write_cores(struct tw_cdo_writer *w, const struct tw_overlay_program *program, struct tw_error *err)
{
    for (unsigned i = 0; i < TW_OVERLAY_CORES; i++) {
        const unsigned column = i % TW_OVERLAY_COLUMNS, row = TW_NPU1_CORE_ROW + i / TW_OVERLAY_COLUMNS;
        tw_cdo_writer_write(w, tw_tile_address(column, row, TW_CORE_CONTROL), CORE_RESET);
        for (size_t piece = 0; piece < program->n_pieces; piece++) {
            const struct tw_view *bytes = &program->pieces[piece].bytes;
            uint32_t offset = 0;
            int code = place(&program->pieces[piece], &offset, err);
            if (code != 0)
                return code;
            tw_cdo_writer_dma_write(w, tw_tile_address(column, row, offset), bytes->data, bytes->size / 4);
        }
    }
    return 0;
}

int tw_overlay_pdi(const struct tw_overlay_program *program, unsigned char **bytes, size_t *size, struct tw_error *err)
{
    struct tw_cdo_writer w;
    unsigned char *cdo = NULL;
    size_t cdo_size = 0;

    tw_cdo_writer_begin(&w);
    int code = write_cores(&w, program, err);
    tw_overlay_write_routes(write_register, &w);
    int finished = tw_cdo_writer_finish(&w, &cdo, &cdo_size, code == 0 ? err : NULL);
    if (code == 0)
        code = finished;
    if (code == 0) {
        const struct tw_view view = {.data = cdo, .size = cdo_size, .file = "the overlay"};
        code = tw_pdi_write(&view, bytes, size, err);
    }
    free(cdo);
    return code;
}

int tw_overlay_xclbin(const struct tw_overlay_program *program, unsigned char **bytes, size_t *size,
                      struct tw_error *err)
{
    static const char *const buffers[TW_OVERLAY_BUFFERS] = {"a", "b", "c", "header", "more"};
    unsigned char *pdi;
    size_t pdi_size;

    int code = tw_overlay_pdi(program, &pdi, &pdi_size, err);
    if (code != 0)
        return code;
    const struct tw_xclbin_contents contents = {
        .pdi = {.data = pdi, .size = pdi_size, .file = "the overlay"},
        .columns = TW_OVERLAY_COLUMNS,
        .kernel = TW_OVERLAY_KERNEL,
        .instance = "overlay",
        .kernel_id = TW_KERNEL_ID,
        .buffers = buffers,
        .n_buffers = TW_OVERLAY_BUFFERS,
    };
    code = tw_xclbin_write(&contents, bytes, size, err);
    free(pdi);
    return code;
}

int tw_overlay_job_image(tw_overlay_make *make, unsigned char **bytes, size_t *size, struct tw_error *err)
{
    struct tw_job_program *job = NULL;
    int code = tw_job_program_make(&job, err);
    if (code < 0)
        return code;
    const struct tw_overlay_piece piece = {0, {.data = job->bytes, .size = job->size, .file = "job program"}};
    const struct tw_overlay_program program = {&piece, 1};
    code = make(&program, bytes, size, err);
    tw_job_program_free(job);
    return code;
}
