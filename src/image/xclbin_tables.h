/*
 * The sections of an xclbin that are tables: memories, kernels, and which argument of a kernel lies in which memory.
 * XRT needs them; a program that brings its own runtime does not.
 */
#ifndef TW_IMAGE_XCLBIN_TABLES_H
#define TW_IMAGE_XCLBIN_TABLES_H

#include "base/view.h"

enum tw_table_limit { TW_MEMORY_TAG_BYTES = 16, TW_IP_NAME_BYTES = 64 };

/* An opened table. */
struct tw_table {
    uint32_t count;
    struct tw_view entries;
};

/* MEM_TOPOLOGY, GROUP_TOPOLOGY */
struct tw_memory {
    uint8_t type; /* 2: DRAM */
    uint8_t used;
    uint64_t kib;
    uint64_t base;
    char tag[TW_MEMORY_TAG_BYTES + 1]; /* "HOST", "SRAM" */
};

/* IP_LAYOUT */
struct tw_ip {
    uint32_t type;                   /* 7: a kernel run by the processor system, as those of NPU1 are */
    uint32_t properties;             /* bits 1:0 subtype (1: DPU), 5:4 functional, 27:16 the kernel's id */
    uint64_t base;                   /* all ones: not used */
    char name[TW_IP_NAME_BYTES + 1]; /* "KERNEL:INSTANCE" */
};

/* CONNECTIVITY, GROUP_CONNECTIVITY */
struct tw_connection {
    int32_t argument, ip, memory; /* the number of the argument, and indices of the other two tables */
};

/* Check that the section holds the entries it counts. Fail with TW_E_FORMAT. */
int tw_memories_open(const struct tw_view *section, struct tw_table *table, struct tw_error *err);
int tw_ips_open(const struct tw_view *section, struct tw_table *table, struct tw_error *err);
int tw_connections_open(const struct tw_view *section, struct tw_table *table, struct tw_error *err);

/* Entry number i < count of a table opened by the function of the same kind. */
void tw_memory_read(const struct tw_table *table, uint32_t i, struct tw_memory *memory);
void tw_ip_read(const struct tw_table *table, uint32_t i, struct tw_ip *ip);
void tw_connection_read(const struct tw_table *table, uint32_t i, struct tw_connection *connection);

#endif
