/* Writes the checked tables as C. */
#include "isa/generate.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char banner[] = "/* Generated from src/isa/aie2.*; edit those. */\n";

/* ---- names */

static void upper(char *dst, const char *src)
{
    while (*src != '\0') {
        char c = *src++;
        *dst++ = (char)(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
    }
    *dst = '\0';
}

static void slot_constant(char dst[32], unsigned slot)
{
    char name[16];
    upper(name, slot_names[slot]);
    snprintf(dst, 32, "TW_SLOT_%s", name);
}

int write_names(const struct tables *t, FILE *out)
{
    fprintf(out, "%s#ifndef TW_ISA_AIE2_NAMES_H\n#define TW_ISA_AIE2_NAMES_H\n\n", banner);
    fprintf(out, "enum tw_register_group {\n");
    for (unsigned i = 0; i < t->n_groups; i++)
        fprintf(out, "    TW_G_%s,\n", t->groups[i]);
    fprintf(out, "    TW_G_COUNT\n};\n\nenum tw_register_id {\n");
    for (unsigned i = 0; i < t->n_registers; i++)
        fprintf(out, "    TW_R_%s,\n", t->registers[i].name);
    fprintf(out, "    TW_R_COUNT\n};\n\nenum tw_register_class_id {\n");
    for (unsigned i = 0; i < t->n_classes; i++)
        fprintf(out, "    TW_C_%s,\n", t->classes[i].name);
    fprintf(out, "    TW_C_COUNT\n};\n\nenum tw_instruction_id {\n");
    for (unsigned i = 0; i < t->n_instructions; i++)
        fprintf(out, "    TW_I_%s,\n", t->instructions[i].name);
    fprintf(out, "    TW_I_COUNT\n};\n\nenum tw_format_id {\n");
    for (unsigned i = 0; i < t->n_formats; i++)
        fprintf(out, "    TW_F_%s,\n", t->formats[i].name);
    fprintf(out, "    TW_FORMAT_COUNT\n};\n\nenum tw_resource_id {\n");
    for (unsigned i = 0; i < t->n_units; i++)
        fprintf(out, "    TW_U_%s,\n", t->units[i]);
    fprintf(out, "    TW_RESOURCE_COUNT\n};\n\n");
    fprintf(out, "enum { TW_SCHEDULE_COUNT = %u };\n\n#endif\n", t->n_schedules);
    return ferror(out) != 0;
}

/* ---- registers */

static void write_registers(const struct tables *t, FILE *out)
{
    fprintf(out, "const struct tw_register tw_registers[] = {\n");
    for (unsigned i = 0; i < t->n_registers; i++) {
        const struct reg *r = &t->registers[i];
        fprintf(out, "    {\"%s\", %u, TW_G_%s, %u, %u, {", r->text, r->bits, t->groups[r->group], r->number,
                r->n_leaves);
        for (unsigned k = 0; k < r->n_leaves; k++)
            fprintf(out, "%sTW_R_%s", k > 0 ? ", " : "", t->registers[r->leaves[k]].name);
        fprintf(out, "}},\n");
    }
    fprintf(out, "};\n\nconst uint8_t tw_register_name_lengths[] = {");
    for (unsigned i = 0; i < t->n_registers; i++)
        fprintf(out, "%s%zu,", i % 32 == 0 ? "\n    " : " ", strlen(t->registers[i].text));
    fprintf(out, "\n};\n\n");
}

/* Registers in the order of their text; among equal ones in the order of the table. */
static void sort_registers(const struct tables *t, unsigned *order)
{
    for (unsigned i = 0; i < t->n_registers; i++) {
        unsigned at = i;
        for (; at > 0 && strcmp(t->registers[order[at - 1]].text, t->registers[i].text) > 0; at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
}

static void write_register_order(const struct tables *t, FILE *out)
{
    unsigned order[MAX_REGISTERS];
    sort_registers(t, order);
    fprintf(out, "const uint16_t tw_registers_by_name[] = {\n");
    for (unsigned i = 0; i < t->n_registers; i++)
        fprintf(out, "    TW_R_%s,\n", t->registers[order[i]].name);
    fprintf(out, "};\n\n");
}

/* The first class with the same registers at the same values, so that equal tables are written once. */
static unsigned first_like(const struct tables *t, unsigned number)
{
    const struct reg_class *c = &t->classes[number];
    for (unsigned i = 0; i < number; i++)
        if (t->classes[i].bits == c->bits && memcmp(t->classes[i].by_value, c->by_value, sizeof c->by_value) == 0)
            return i;
    return number;
}

static void write_numbers(FILE *out, const int16_t *numbers, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        fprintf(out, "%s%d,", i % 24 == 0 ? "\n    " : " ", numbers[i]);
}

static void write_class_maps(const struct tables *t, FILE *out, unsigned number)
{
    const struct reg_class *c = &t->classes[number];
    int16_t values[MAX_REGISTERS];

    memset(values, -1, sizeof values);
    for (unsigned v = 0; v < 1u << c->bits; v++)
        if (c->by_value[v] >= 0)
            values[c->by_value[v]] = (int16_t)v;
    fprintf(out, "static const int16_t registers_of_%s[] = {", c->name);
    write_numbers(out, c->by_value, 1u << c->bits);
    fprintf(out, "\n};\nstatic const int16_t values_of_%s[] = {", c->name);
    write_numbers(out, values, t->n_registers);
    fprintf(out, "\n};\n\n");
}

static void write_classes(const struct tables *t, FILE *out)
{
    for (unsigned i = 0; i < t->n_classes; i++)
        if (first_like(t, i) == i)
            write_class_maps(t, out, i);
    fprintf(out, "const struct tw_register_class tw_register_classes[] = {\n");
    for (unsigned i = 0; i < t->n_classes; i++)
        fprintf(out, "    {\"%s\", %u, %u, registers_of_%s},\n", t->classes[i].name, t->classes[i].bits,
                1u << t->classes[i].bits, t->classes[first_like(t, i)].name);
    fprintf(out, "};\n\nconst int16_t *const tw_class_values[] = {\n");
    for (unsigned i = 0; i < t->n_classes; i++)
        fprintf(out, "    values_of_%s,\n", t->classes[first_like(t, i)].name);
    fprintf(out, "};\n\n");
}

/* ---- formats */

static void write_wide(FILE *out, const struct wide *w)
{
    fprintf(out, "{0x%" PRIx64 ", 0x%" PRIx64 "}, ", w->word[0], w->word[1]);
}

static void write_formats(const struct tables *t, FILE *out)
{
    fprintf(out, "const struct tw_format tw_formats[] = {\n");
    for (unsigned i = 0; i < t->n_formats; i++) {
        const struct format *f = &t->formats[i];
        fprintf(out, "    {\"%s\", %u, 0x%x, ", f->name, f->bytes, f->slots);
        write_wide(out, &f->mask);
        write_wide(out, &f->value);
        write_wide(out, &f->unused);
        fprintf(out, "{");
        for (unsigned s = 0; s < SLOTS; s++)
            fprintf(out, "%s{%u, %u}", s > 0 ? ", " : "", f->place[s].low, f->place[s].high);
        fprintf(out, "}},\n");
    }
    fprintf(out, "};\n\n");
}

/* ---- schedule */

static void write_schedule_parts(const struct tables *t, FILE *out, unsigned number)
{
    static const char *const bypasses[] = {"TW_BYPASS_NONE", "TW_BYPASS_VEC", "TW_BYPASS_MOV"};
    const struct schedule *s = &t->schedules[number];

    if (s->n_cycles > 0) {
        fprintf(out, "static const struct tw_operand_cycle cycles_%u[] = {", number);
        for (unsigned i = 0; i < s->n_cycles; i++)
            fprintf(out, "%s{%u, %s}", i > 0 ? ", " : "", s->cycles[i].cycle, bypasses[s->cycles[i].bypass]);
        fprintf(out, "};\n");
    }
    if (s->n_units > 0) {
        fprintf(out, "static const struct tw_resource_use uses_%u[] = {\n", number);
        for (unsigned i = 0; i < s->n_units; i++)
            fprintf(out, "    {TW_U_%s, %u, %u, %u},\n", t->units[s->units[i].unit], s->units[i].first,
                    s->units[i].last, s->units[i].avoid);
        fprintf(out, "};\n");
    }
}

/* The name of a part's array, or NULL when the part is empty. */
static const char *array(char name[64], const char *prefix, unsigned number, unsigned n)
{
    snprintf(name, 64, "%s_%u", prefix, number);
    return n > 0 ? name : "NULL";
}

static void write_schedule(const struct tables *t, FILE *out)
{
    char a[64], b[64];

    fprintf(out, "const char *const tw_resource_names[] = {\n");
    for (unsigned i = 0; i < t->n_units; i++)
        fprintf(out, "    \"%s\",\n", t->units[i]);
    fprintf(out, "};\n\n");
    for (unsigned i = 0; i < t->n_schedules; i++)
        write_schedule_parts(t, out, i);
    fprintf(out, "\nconst struct tw_schedule_class tw_schedule_classes[] = {\n");
    for (unsigned i = 0; i < t->n_schedules; i++) {
        const struct schedule *s = &t->schedules[i];
        fprintf(out, "    {\"%s\", %u, %u, %u, %u, %s, %s},\n", s->name, s->n_cycles, s->n_units, s->memory_first,
                s->memory_last, array(a, "cycles", i, s->n_cycles), array(b, "uses", i, s->n_units));
    }
    fprintf(out, "};\n\n");
}

static void write_variant(const struct variant *v, FILE *out)
{
    fprintf(out, "    {%u, %u, %u, {%u, %u}, {0x%" PRIx64 ", 0x%" PRIx64 "}},\n", v->from, v->to, v->n_conditions,
            v->operand[0], v->operand[1], v->groups[0], v->groups[1]);
}

/* Variants class by class, so that those of one class follow each other. */
static void write_variants(const struct tables *t, FILE *out)
{
    int16_t first[MAX_SCHEDULES];
    int written = 0;

    fprintf(out, "const struct tw_variant tw_variants[] = {\n");
    for (unsigned s = 0; s < t->n_schedules; s++) {
        int begin = written;
        for (unsigned i = 0; i < t->n_variants; i++)
            if (t->variants[i].from == s) {
                write_variant(&t->variants[i], out);
                written++;
            }
        first[s] = (int16_t)(written > begin ? begin : -1);
    }
    if (written == 0)
        fprintf(out, "    {0, 0, 0, {0, 0}, {0, 0}},\n");
    fprintf(out, "};\nconst unsigned tw_variant_count = %d;\n\nconst int16_t tw_first_variant[] = {", written);
    write_numbers(out, first, t->n_schedules);
    fprintf(out, "\n};\n\n");
}

/* ---- instructions */

static void write_operand(const struct tables *t, const struct operand *o, FILE *out)
{
    static const char *const kinds[] = {"TW_OPERAND_REGISTER", "TW_OPERAND_IMMEDIATE", "TW_OPERAND_ADDRESS"};
    static const char *const roles[] = {"TW_OPERAND_IN", "TW_OPERAND_OUT", "TW_OPERAND_TIED", "TW_OPERAND_INOUT"};

    fprintf(out, "    {\"%s\", %s, %s, ", o->name, kinds[o->kind], roles[o->role]);
    if (o->reg_class >= 0)
        fprintf(out, "TW_C_%s", t->classes[o->reg_class].name);
    else
        fprintf(out, "0");
    fprintf(out, ", %u, %d, %d, %u, %d, %d, %u, %u, {", o->n_ranges > 0 ? o->bits : 0, o->is_signed, o->is_negative,
            o->kind == KIND_REGISTER ? 0 : o->scale, o->tied_to, o->leaf_of, o->leaf, o->n_ranges);
    for (unsigned r = 0; r < MAX_RANGES; r++)
        fprintf(out, "%s{%u, %u}", r > 0 ? ", " : "", o->ranges[r].low, o->ranges[r].high);
    fprintf(out, "}},\n");
}

static void write_register_list(const struct tables *t, FILE *out, const char *prefix, unsigned number,
                                const unsigned *registers, unsigned n)
{
    if (n == 0)
        return;
    fprintf(out, "static const uint16_t %s_%u[] = {", prefix, number);
    for (unsigned i = 0; i < n; i++)
        fprintf(out, "%sTW_R_%s", i > 0 ? ", " : "", t->registers[registers[i]].name);
    fprintf(out, "};\n");
}

static void write_instruction_parts(const struct tables *t, FILE *out, unsigned number)
{
    const struct instruction *in = &t->instructions[number];

    if (in->n_operands > 0) {
        fprintf(out, "static const struct tw_operand_info operands_%u[] = {\n", number);
        for (unsigned i = 0; i < in->n_operands; i++)
            write_operand(t, &in->operands[i], out);
        fprintf(out, "};\n");
    }
    write_register_list(t, out, "defs", number, in->defs, in->n_defs);
    write_register_list(t, out, "implicit", number, in->uses, in->n_uses);
    fprintf(out, "static const struct tw_piece pieces_%u[] = {", number);
    for (unsigned i = 0; i < in->n_pieces; i++)
        fprintf(out, "%s{\"%.*s\", %zu, %d}", i > 0 ? ", " : "", (int)in->pieces[i].length, in->pieces[i].text,
                in->pieces[i].length, in->pieces[i].operand);
    fprintf(out, "};\n");
}

static void write_flags(FILE *out, unsigned flags)
{
    static const char *const names[FLAGS] = {"LOAD", "STORE",  "BRANCH",      "DELAY",
                                             "LOCK", "STREAM", "SIDE_EFFECT", "NOP"};
    int any = 0;
    for (unsigned f = 0; f < FLAGS; f++)
        if ((flags >> f & 1) != 0)
            fprintf(out, "%sTW_FLAG_%s", any++ ? " | " : "", names[f]);
    if (!any)
        fprintf(out, "0");
}

static void write_instruction(const struct tables *t, FILE *out, unsigned number)
{
    const struct instruction *in = &t->instructions[number];
    char slot[32], a[64], b[64], c[64];

    slot_constant(slot, in->slot);
    fprintf(out,
            "    {\"%s\", \"%.*s\", \"%s\", %s, 0x%" PRIx64 ", 0x%" PRIx64 ", 0x%" PRIx64 ", %u, %u, %u, %s, %s, %s, ",
            in->name, (int)strcspn(in->syntax, " "), in->syntax, in->syntax, slot, in->mask, in->value, in->unused,
            in->n_operands, in->n_defs, in->n_uses, array(a, "operands", number, in->n_operands),
            array(b, "defs", number, in->n_defs), array(c, "implicit", number, in->n_uses));
    write_flags(out, in->flags);
    fprintf(out, ", %u},\n", in->schedule);
}

static void write_instructions(const struct tables *t, FILE *out)
{
    for (unsigned i = 0; i < t->n_instructions; i++)
        write_instruction_parts(t, out, i);
    fprintf(out, "\nconst struct tw_instruction tw_instructions[] = {\n");
    for (unsigned i = 0; i < t->n_instructions; i++)
        write_instruction(t, out, i);
    fprintf(out, "};\n\nconst struct tw_syntax tw_syntaxes[] = {\n");
    for (unsigned i = 0; i < t->n_instructions; i++)
        fprintf(out, "    {pieces_%u, %u},\n", i, t->instructions[i].n_pieces);
    fprintf(out, "};\n\nconst uint16_t tw_slot_nops[TW_SLOT_COUNT] = {");
    for (unsigned s = 0; s < SLOTS; s++)
        for (unsigned i = 0; i < t->n_instructions; i++)
            if (t->instructions[i].slot == s && (t->instructions[i].flags >> 7 & 1) != 0)
                fprintf(out, "TW_I_%s, ", t->instructions[i].name);
    fprintf(out, "};\n\n");
}

/* ---- mnemonics */

static int compare_mnemonics(const struct instruction *a, const struct instruction *b)
{
    size_t la = strcspn(a->syntax, " "), lb = strcspn(b->syntax, " ");
    int c = memcmp(a->syntax, b->syntax, la < lb ? la : lb);
    return c != 0 ? c : (la > lb) - (la < lb);
}

/* Instructions in the order of mnemonic, then slot, then the table's. */
static void sort_instructions(const struct tables *t, unsigned *order)
{
    for (unsigned i = 0; i < t->n_instructions; i++) {
        const struct instruction *in = &t->instructions[i];
        unsigned at = i;
        for (; at > 0; at--) {
            const struct instruction *before = &t->instructions[order[at - 1]];
            int c = compare_mnemonics(before, in);
            if (c < 0 || (c == 0 && before->slot <= in->slot))
                break;
            order[at] = order[at - 1];
        }
        order[at] = i;
    }
}

static void write_mnemonics(const struct tables *t, FILE *out)
{
    unsigned order[MAX_INSTRUCTIONS], count = 0;

    sort_instructions(t, order);
    fprintf(out, "const uint16_t tw_mnemonic_instructions[] = {\n");
    for (unsigned i = 0; i < t->n_instructions; i++)
        fprintf(out, "    TW_I_%s,\n", t->instructions[order[i]].name);
    fprintf(out, "};\n\nconst struct tw_mnemonic tw_mnemonics[] = {\n");
    for (unsigned i = 0, n; i < t->n_instructions; i += n, count++) {
        const struct instruction *in = &t->instructions[order[i]];
        for (n = 1; i + n < t->n_instructions && compare_mnemonics(in, &t->instructions[order[i + n]]) == 0; n++)
            continue;
        fprintf(out, "    {\"%.*s\", %u, %u},\n", (int)strcspn(in->syntax, " "), in->syntax, i, n);
    }
    fprintf(out, "};\nconst unsigned tw_mnemonic_count = %u;\n\n", count);
}

/* ---- decode index */

static void write_u16(FILE *out, const char *name, const uint16_t *numbers, unsigned n)
{
    fprintf(out, "static const uint16_t %s[] = {", name);
    for (unsigned i = 0; i < n; i++)
        fprintf(out, "%s%u,", i % 20 == 0 ? "\n    " : " ", numbers[i]);
    fprintf(out, "\n};\n");
}

static void write_index_arrays(FILE *out, const struct index *index, const char *name)
{
    char array_name[64];
    snprintf(array_name, sizeof array_name, "first_%s", name);
    write_u16(out, array_name, index->first, 1u << index->n_bits);
    snprintf(array_name, sizeof array_name, "lists_%s", name);
    write_u16(out, array_name, index->lists, index->n_lists);
    fprintf(out, "#define INDEX_%s {", name);
    unsigned runs = 0;
    for (unsigned i = 0; i < index->n_bits; i++)
        runs += i == 0 || index->bits[i] != index->bits[i - 1] + 1;
    fprintf(out, "%u, {", runs == 0 ? 1 : runs);
    for (unsigned i = 0, n; i < index->n_bits; i += n) {
        for (n = 1; i + n < index->n_bits && index->bits[i + n] == index->bits[i] + n; n++)
            continue;
        fprintf(out, "{%u, 0x%x}, ", index->bits[i] - i, ((1u << n) - 1) << i);
    }
    fprintf(out, "%s}, first_%s, lists_%s}\n\n", runs == 0 ? "{0, 0}" : "", name, name);
}

static int write_slot_indices(const struct tables *t, FILE *out, struct index *index, struct pattern *patterns,
                              uint16_t *numbers)
{
    for (unsigned s = 0; s < SLOTS; s++) {
        unsigned n = 0;
        for (unsigned i = 0; i < t->n_instructions; i++)
            if (t->instructions[i].slot == s) {
                patterns[n] = (struct pattern){t->instructions[i].mask, t->instructions[i].value};
                numbers[n++] = (uint16_t)i;
            }
        if (build_index(index, patterns, numbers, n) != 0)
            return 1;
        write_index_arrays(out, index, slot_names[s]);
    }
    fprintf(out, "const struct tw_index tw_slot_index[TW_SLOT_COUNT] = {");
    for (unsigned s = 0; s < SLOTS; s++)
        fprintf(out, "%sINDEX_%s", s > 0 ? ", " : "", slot_names[s]);
    fprintf(out, "};\n\n");
    return 0;
}

static int write_format_index(const struct tables *t, FILE *out, struct index *index, struct pattern *patterns,
                              uint16_t *numbers)
{
    for (unsigned i = 0; i < t->n_formats; i++) {
        patterns[i] = (struct pattern){t->formats[i].mask.word[0], t->formats[i].value.word[0]};
        numbers[i] = (uint16_t)i;
    }
    if (build_index(index, patterns, numbers, t->n_formats) != 0)
        return 1;
    write_index_arrays(out, index, "formats");
    fprintf(out, "const struct tw_index tw_format_index = INDEX_formats;\n");
    return 0;
}

static int write_indices(const struct tables *t, FILE *out)
{
    struct index *index = malloc(sizeof *index);
    struct pattern *patterns = calloc(MAX_INSTRUCTIONS, sizeof *patterns);
    uint16_t *numbers = calloc(MAX_INSTRUCTIONS, sizeof *numbers);
    int bad = index == NULL || patterns == NULL || numbers == NULL ||
              write_slot_indices(t, out, index, patterns, numbers) != 0 ||
              write_format_index(t, out, index, patterns, numbers) != 0;
    if (bad)
        fprintf(stderr, "generate: the decode index cannot be built; raise INDEX_LISTS in generate.h\n");
    free(index);
    free(patterns);
    free(numbers);
    return bad;
}

int write_tables(const struct tables *t, FILE *out)
{
    fprintf(out, "%s#include \"isa/tables.h\"\n\n", banner);
    write_registers(t, out);
    write_register_order(t, out);
    write_classes(t, out);
    write_formats(t, out);
    write_schedule(t, out);
    write_variants(t, out);
    write_instructions(t, out);
    write_mnemonics(t, out);
    return write_indices(t, out) != 0 || ferror(out) != 0;
}
