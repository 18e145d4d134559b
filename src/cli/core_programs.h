/* The programs of the cores in a file of any of the containers that hold such. */
#ifndef TW_CLI_CORE_PROGRAMS_H
#define TW_CLI_CORE_PROGRAMS_H

#include "base/view.h"
#include "isa/disassemble.h"

struct tw_core_program {
    int pdi;         /* the number of the PDI in the file; -1 when there is none */
    int column, row; /* -1 when the file does not say, as an ELF file does not */
    const struct tw_code_run *runs;
    size_t n_runs;
    const struct tw_code_old *old; /* uses out of time that the file tells of, by address */
    size_t n_old;
};

/* Returns 0, or a code that ends the walk. */
typedef int tw_core_program_visit(void *arg, const struct tw_core_program *program, struct tw_error *err);

/*
 * Calls visit for every core's program in an ELF file, a CDO, a PDI or an xclbin, in the order of PDI, column and row.
 * The whole file is checked before the first call. Fails with TW_E_FORMAT, TW_E_UNSUPPORTED (also when the file is none
 * of these), TW_E_LIMIT, TW_E_MEMORY, or what visit returned.
 */
int tw_core_programs(const struct tw_view *file, tw_core_program_visit *visit, void *arg, struct tw_error *err);

#endif
