/* Byte offsets and numbers of ELF32 files, by the System V ABI; machine and flags by the public llvm-aie backend. */
#ifndef TW_IMAGE_ELF_FORMAT_H
#define TW_IMAGE_ELF_FORMAT_H

enum elf_header {
    ELF_IDENT_CLASS = 4,
    ELF_IDENT_DATA = 5,
    ELF_IDENT_VERSION = 6,
    ELF_TYPE = 16,
    ELF_MACHINE = 18,
    ELF_VERSION = 20,
    ELF_PROGRAM_TABLE = 28,
    ELF_SECTION_TABLE = 32,
    ELF_FLAGS = 36,
    ELF_HEADER_SIZE = 40,
    ELF_PROGRAM_ENTRY = 42,
    ELF_PROGRAM_COUNT = 44,
    ELF_SECTION_ENTRY = 46,
    ELF_SECTION_COUNT = 48,
    ELF_SECTION_NAMES = 50,
    ELF_HEADER_BYTES = 52
};

enum elf_program_header {
    ELF_P_TYPE = 0,
    ELF_P_OFFSET = 4,
    ELF_P_ADDRESS = 8,
    ELF_P_PHYSICAL = 12,
    ELF_P_FILE_BYTES = 16,
    ELF_P_BYTES = 20,
    ELF_P_FLAGS = 24,
    ELF_P_ALIGN = 28,
    ELF_P_HEADER_BYTES = 32
};

enum elf_section_header {
    ELF_S_NAME = 0,
    ELF_S_TYPE = 4,
    ELF_S_FLAGS = 8,
    ELF_S_ADDRESS = 12,
    ELF_S_OFFSET = 16,
    ELF_S_BYTES = 20,
    ELF_S_LINK = 24,
    ELF_S_INFO = 28,
    ELF_S_ALIGN = 32,
    ELF_S_ENTRY = 36,
    ELF_S_HEADER_BYTES = 40
};

enum elf_symbol {
    ELF_SYM_NAME = 0,
    ELF_SYM_VALUE = 4,
    ELF_SYM_SIZE = 8,
    ELF_SYM_INFO = 12, /* binding in the high four bits, kind in the low ones */
    ELF_SYM_SECTION = 14,
    ELF_SYM_BYTES = 16
};

/* An entry of TW_ELF_OLD_SECTION: an address, and a name that ends with a zero. */
enum elf_old { ELF_OLD_ADDRESS = 0, ELF_OLD_NAME = 4 };

enum elf_number {
    ELF_CLASS_32 = 1,
    ELF_LITTLE_ENDIAN = 1,
    ELF_CURRENT = 1,
    ELF_EXECUTABLE = 2,
    ELF_MACHINE_AIE = 264,
    ELF_FLAGS_AIE2 = 2, /* 1: AIE, 3: AIE2P */
    ELF_LOAD = 1,
    ELF_P_EXECUTE = 1,
    ELF_P_WRITE = 2,
    ELF_P_READ = 4,
    ELF_PROGBITS = 1,
    ELF_SYMTAB = 2,
    ELF_STRTAB = 3,
    ELF_NOBITS = 8,
    ELF_S_WRITE = 1,
    ELF_S_ALLOC = 2,
    ELF_S_EXECUTE = 4,
    ELF_ABSOLUTE = 0xfff1
};

#endif
