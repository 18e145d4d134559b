/* PDIs, xclbins and core ELF files made in memory, written by hand and not with the readers' or the writer's tables. */
#ifndef TESTS_IMAGE_MAKE_IMAGE_H
#define TESTS_IMAGE_MAKE_IMAGE_H

#include "npu1/make_cdo.h"

/* A CDO that writes size bytes (a multiple of 4) of program to each of n cores, in columns 0, 1, ... of row 2. */
void make_program_cdo(struct made *m, const void *program, size_t size, unsigned n);

/* A PDI for NPU1 around a CDO. */
void make_pdi(struct made *m, const struct made *cdo);
/* Corrects the checksums of its headers after a change. */
void pdi_sign(unsigned char *pdi);

/* An AIE_PARTITION of four columns with n PDIs, each with one group of one kernel. */
void make_partition(struct made *m, const struct made *pdis, unsigned n);

/* An xclbin with the tables of memories, kernels and connections, an XML text and the partition. */
void make_xclbin(struct made *m, const struct made *partition);

/* A core ELF file with a program at 0, four bytes of data and as many of zeros at 0x70400, and the symbol "main". */
void make_elf(struct made *m, const void *program, size_t size);

/* An ELF file with control code (a wait) whose two descriptors the host patches for arguments 3 and 5. */
void make_control_elf(struct made *m);

enum made_elf_place { ELF_PROGRAM_HEADERS = 52, ELF_DATA_HEADER = 84, ELF_FIRST_DATA = 116 };

#endif
