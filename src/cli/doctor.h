/* Why the NPU does not work: checks in the order in which things must be there, each with the command that mends it. */
#ifndef TW_CLI_DOCTOR_H
#define TW_CLI_DOCTOR_H

#include "device/machine.h"
#include "device/queries.h"

#include <stdio.h>

enum tw_check_state {
    TW_CHECK_OK,
    TW_CHECK_UNKNOWN, /* cannot be seen, because of an earlier one or from inside a container */
    TW_CHECK_WARNING, /* works, perhaps not for all */
    TW_CHECK_FAILED
};

struct tw_check {
    const char *name;
    enum tw_check_state state;
    char text[512]; /* what was found */
    char mend[256]; /* one command; "" when there is nothing to mend */
};

enum tw_check_number {
    TW_CHECK_PCI,
    TW_CHECK_KERNEL,
    TW_CHECK_MODULE,
    TW_CHECK_NODE,
    TW_CHECK_PERMISSION,
    TW_CHECK_IOMMU,
    TW_CHECK_FIRMWARE,
    TW_CHECK_MEMLOCK,
    TW_CHECK_CONTEXTS,
    TW_CHECKS
};

/* The machine that is looked at. */
struct tw_patient {
    const char *root;             /* where its /sys, /dev, /proc, /etc and /lib are; "": here */
    const struct tw_calls *calls; /* to open its node */
};

/* What the checks find and later ones build on. */
struct tw_findings {
    struct tw_npu npu;
    enum tw_npu_generation generation;
    char kernel[128]; /* "6.14.0-24-generic"; "": not known */
    int kernel_old, module_loaded, container;
    const struct tw_distribution *distribution; /* never NULL */
    struct tw_driver_file file;                 /* fd -1: not open */
    struct tw_driver_facts facts;               /* of the open file */
};

struct tw_diagnosis {
    struct tw_check checks[TW_CHECKS];
    int first; /* the first check that failed, else the first with a warning; -1: none */
};

/* Never fails, whatever is missing. */
void tw_doctor_examine(const struct tw_patient *patient, struct tw_diagnosis *diagnosis);

/* Whether no check failed. */
int tw_doctor_healthy(const struct tw_diagnosis *diagnosis);

void tw_doctor_print(const struct tw_diagnosis *diagnosis, FILE *to);
/* Returns 0, or nonzero when there is no memory or the file does not take it. */
int tw_doctor_print_json(const struct tw_diagnosis *diagnosis, FILE *to);

/* The packages that a distribution has for this hardware. */
struct tw_distribution {
    const char *id; /* ID of /etc/os-release */
    const char *kernel, *firmware;
};

/* What can be known before the checks; fills all but file and facts. */
void tw_doctor_look_around(const struct tw_patient *patient, struct tw_findings *findings);

/* The checks, in their order. Each fills state, text and mend. */
typedef void tw_check_function(const struct tw_patient *patient, struct tw_findings *findings, struct tw_check *check);
tw_check_function tw_check_pci, tw_check_kernel, tw_check_module, tw_check_node; /* doctor_driver.c */
tw_check_function tw_check_permission, tw_check_iommu, tw_check_firmware;        /* doctor_access.c */
tw_check_function tw_check_memlock, tw_check_contexts;                           /* doctor_limits.c */

/* Store a result; mend may be NULL. */
void tw_check_set(struct tw_check *check, enum tw_check_state state, const char *fmt, ...) TW_PRINTF(3, 4);
void tw_check_mend(struct tw_check *check, const char *fmt, ...) TW_PRINTF(2, 3);

/* Whether there is something at root + the format. */
int tw_doctor_exists(const struct tw_patient *patient, const char *fmt, ...) TW_PRINTF(2, 3);

/* Whether a file below root holds the text in one of its lines; *line (may be NULL) gets it. */
int tw_doctor_find_line(const struct tw_patient *patient, const char *path, const char *text, char *line, size_t size);

/* Whether firmware for the NPU lies where the kernel looks; compressed or not. */
int tw_doctor_has_firmware(const struct tw_patient *patient);

#endif
