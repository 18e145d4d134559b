/* Seeds for fuzz_image: small files of each kind. Argument: FOLDER. */
#include "fuzz/image_kinds.h"

#include "image/core_elf.h"
#include "image/make_image.h"

#include <stdio.h>
#include <stdlib.h>

static const unsigned char program[] = {0x01, 0, 0x95, 0, 0, 0x04, 0, 0, 0x09, 0, 0, 0, 0x01, 0, 0x3f, 0xff};

/* Writes a seed and releases its contents; returns 0 when it is there. */
static int write_seed(const char *folder, const char *name, unsigned char kind, struct made *m)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "wb");
    if (f == NULL)
        return 1;
    int bad = fwrite(&kind, 1, 1, f) != 1 || fwrite(m->data, 1, m->size, f) != m->size;
    made_free(m);
    return fclose(f) != 0 || bad;
}

/* With uses out of time. */
static void make_listed_elf(struct made *m)
{
    const struct tw_elf_segment segment = {".text", 0, sizeof program, {program, sizeof program, "", 0}};
    const struct tw_elf_old old[] = {{0, "r0"}, {2, "wl11"}, {2, "amhh8"}};
    const struct tw_elf_program listed = {&segment, 1, NULL, 0, old, 3};
    unsigned char *file;
    size_t size;

    if (tw_core_elf_write(&listed, &file, &size, NULL) == 0)
        made_bytes(m, file, size);
    free(file);
}

static void make_commands(struct made *m)
{
    CDO(m, 0x111, 1, 2);
    CDO(m, 0x101, 0x220000, 1, 2, 3);
    CDO(m, 0x102, 0x220000, 0xff, 0x55);
    CDO(m, 0x103, 0x220004, 0x10001);
    cdo_dma_write(m, 0x2520100, program, sizeof program);
    CDO(m, 0x107, 0, 0x220000, 0xff, 0x55);
    CDO(m, 0x108, 0, 0x220008, 0x10001);
    CDO(m, 0x10c, 0, 0x420000, 100, 0x10001);
    CDO(m, 0x10d, 0, 0x220000, 5, 6);
    CDO(m, 0xff0105, 3, 0, 0x220000, 7); /* the long form */
}

static void make_whole_xclbin(struct made *m, const struct made *pdi)
{
    struct made partition = {0};
    make_partition(&partition, pdi, 1);
    make_xclbin(m, &partition);
    made_free(&partition);
}

int main(int argc, char **argv)
{
    struct made cdo = {0}, pdi = {0}, xclbin = {0}, elf = {0}, listed = {0}, commands = {0}, code = {0};
    if (argc != 2)
        return 2;
    make_program_cdo(&cdo, program, sizeof program, 2);
    make_pdi(&pdi, &cdo);
    make_whole_xclbin(&xclbin, &pdi);
    make_elf(&elf, program, sizeof program);
    make_listed_elf(&listed);
    make_commands(&commands);
    made_bytes(&code, program, sizeof program);
    return write_seed(argv[1], "xclbin", INPUT_FILE, &xclbin) || write_seed(argv[1], "elf", INPUT_FILE, &elf) ||
           write_seed(argv[1], "listed", INPUT_FILE, &listed) || write_seed(argv[1], "cdo", INPUT_FILE, &cdo) ||
           write_seed(argv[1], "pdi", INPUT_PDI, &pdi) || write_seed(argv[1], "commands", INPUT_COMMANDS, &commands) ||
           write_seed(argv[1], "program", INPUT_PROGRAM, &code);
}
