/*
 * Symbolic registers to webs. Every write of a symbolic register begins a new value, unless its operation reads the old
 * one, or a reader cannot tell which of two writes it follows: then the values share a web, and later a register. So a
 * name that text uses again and again does not tie its uses together.
 */
#include "isa/sched/program.h"

#include <string.h>

/* A write of one leaf. op < 0: what is there on entry. */
struct site {
    int32_t op;
    uint8_t ref, defined;
    uint32_t leaf;
    int32_t next;   /* of the leaf */
    int32_t parent; /* union-find */
    int32_t web;
};

struct renaming {
    struct tw_sched_program *p;
    struct site *sites;
    uint32_t n_sites;
    int32_t *first_of;          /* leaf -> its first site */
    size_t words;               /* of a set of sites */
    uint64_t *in, *made, *lost; /* of each piece: sites that reach it; that leave it; whose leaf it writes */
    int32_t *local;             /* leaf -> the site that wrote it last in the piece being walked, or -1 */
    uint8_t *exposed;           /* site (root) -> a loop that writes it reads the last iteration's */
};

static int has(const uint64_t *set, uint32_t i)
{
    return (int)(set[i / 64] >> i % 64 & 1);
}

static void put(uint64_t *set, uint32_t i)
{
    set[i / 64] |= (uint64_t)1 << i % 64;
}

/* ---- the order of runs */

static int is_return(unsigned instruction)
{
    return instruction == TW_I_RET;
}

uint32_t tw_sched_successors(const struct tw_sched_program *p, uint32_t run, uint32_t *runs)
{
    int32_t branch = p->runs[run].branch;
    unsigned in = branch < 0 ? 0 : p->ops[branch].alt[0].instruction;
    int to_pointer = branch >= 0 && (in == TW_I_JNZD || in == TW_I_J_jump_ind);
    int always = branch >= 0 && (in == TW_I_J_jump_imm || in == TW_I_J_jump_ind || is_return(in));
    int leaves = always && !(in == TW_I_J_jump_imm && p->ops[branch].label >= 0);
    uint32_t n = 0;

    if (!always)
        runs[n++] = run + 1;
    if (branch >= 0 && !to_pointer && p->ops[branch].label >= 0)
        runs[n++] = (uint32_t)p->labels[p->ops[branch].label].run;
    for (uint32_t i = 0; to_pointer && i < p->n_runs; i++)
        if (p->runs[i].labelled)
            runs[n++] = i;
    if (leaves || (branch >= 0 && !always && !to_pointer && p->ops[branch].label < 0))
        runs[n++] = p->n_runs;
    return n;
}

/* ---- sites */

static int32_t root(const struct renaming *n, int32_t site)
{
    while (n->sites[site].parent != site)
        site = n->sites[site].parent = n->sites[n->sites[site].parent].parent;
    return site;
}

static void join(struct renaming *n, int32_t a, int32_t b)
{
    n->sites[root(n, a)].parent = root(n, b);
}

static void add_site(struct renaming *n, int32_t op, unsigned ref, uint32_t leaf, int defined)
{
    int32_t number = (int32_t)n->n_sites++;

    n->sites[number] = (struct site){op, (uint8_t)ref, (uint8_t)defined, leaf, n->first_of[leaf], number, -1};
    n->first_of[leaf] = number;
}

static uint32_t leaf_of(const struct tw_sched_program *p, const struct tw_sched_ref *ref, unsigned i)
{
    return p->vars[ref->var].leaf + ref->first + i;
}

static int make_sites(struct renaming *n)
{
    struct tw_sched_program *p = n->p;
    size_t most = p->n_var_leaves;

    for (uint32_t i = 0; i < p->n_ops; i++)
        for (unsigned k = 0; k < p->ops[i].n_refs; k++)
            most += p->ops[i].refs[k].var >= 0 && p->ops[i].refs[k].writes ? p->ops[i].refs[k].count : 0u;
    n->sites = tw_arena_alloc(&p->arena, most + 1, sizeof *n->sites);
    n->first_of = tw_arena_alloc(&p->arena, p->n_var_leaves + 1, sizeof *n->first_of);
    n->local = tw_arena_alloc(&p->arena, p->n_var_leaves + 1, sizeof *n->local);
    n->exposed = tw_arena_alloc(&p->arena, most + 1, 1);
    n->words = most / 64 + 1;
    n->in = tw_arena_alloc(&p->arena, p->n_pieces, n->words * 8);
    n->made = tw_arena_alloc(&p->arena, p->n_pieces, n->words * 8);
    n->lost = tw_arena_alloc(&p->arena, p->n_pieces, n->words * 8);
    if (n->sites == NULL || n->first_of == NULL || n->local == NULL || n->exposed == NULL || n->in == NULL ||
        n->made == NULL || n->lost == NULL)
        return tw_sched_no_memory(p);

    memset(n->first_of, 0xff, p->n_var_leaves * sizeof *n->first_of);
    for (uint32_t v = 0; v < p->n_vars; v++)
        for (unsigned i = 0; i < tw_sched_kinds[p->vars[v].kind].n_leaves; i++) {
            add_site(n, -1 - (int32_t)v, 0, p->vars[v].leaf + i, p->vars[v].in >= 0);
            if (i > 0 && p->vars[v].in >= 0) /* what comes in one register is one value */
                join(n, (int32_t)n->n_sites - 1, (int32_t)n->n_sites - 2);
        }
    for (uint32_t i = 0; i < p->n_ops; i++)
        for (unsigned k = 0; k < p->ops[i].n_refs; k++) {
            const struct tw_sched_ref *ref = &p->ops[i].refs[k];
            for (unsigned l = 0; ref->var >= 0 && ref->writes && l < ref->count; l++)
                add_site(n, (int32_t)i, k, leaf_of(p, ref, l), 1);
        }
    return 0;
}

/* The site of an operation's write of a leaf. */
static int32_t site_of(const struct renaming *n, int32_t op, unsigned ref, uint32_t leaf)
{
    int32_t s = n->first_of[leaf];

    while (n->sites[s].op != op || n->sites[s].ref != ref)
        s = n->sites[s].next;
    return s;
}

/* ---- which writes reach where */

static void summarize(struct renaming *n, uint32_t piece)
{
    const struct tw_sched_piece *q = &n->p->pieces[piece];
    uint64_t *made = n->made + piece * n->words, *lost = n->lost + piece * n->words;

    memset(n->local, 0xff, n->p->n_var_leaves * sizeof *n->local);
    for (uint32_t i = q->first; i < q->first + q->count; i++)
        for (unsigned k = 0; k < n->p->ops[i].n_refs; k++) {
            const struct tw_sched_ref *ref = &n->p->ops[i].refs[k];
            for (unsigned l = 0; ref->var >= 0 && ref->writes && l < ref->count; l++)
                n->local[leaf_of(n->p, ref, l)] = site_of(n, (int32_t)i, k, leaf_of(n->p, ref, l));
        }
    for (uint32_t leaf = 0; leaf < n->p->n_var_leaves; leaf++) {
        if (n->local[leaf] < 0)
            continue;
        put(made, (uint32_t)n->local[leaf]);
        for (int32_t s = n->first_of[leaf]; s >= 0; s = n->sites[s].next)
            put(lost, (uint32_t)s);
    }
}

/* Adds what leaves one piece to what reaches another; returns whether that is news. */
static int flow(struct renaming *n, uint32_t from, uint32_t to)
{
    const uint64_t *in = n->in + from * n->words, *made = n->made + from * n->words, *lost = n->lost + from * n->words;
    uint64_t *there = n->in + to * n->words, news = 0;

    for (size_t w = 0; w < n->words; w++) {
        uint64_t out = made[w] | (in[w] & ~lost[w]);
        news |= out & ~there[w];
        there[w] |= out;
    }
    return news != 0;
}

static void reach(struct renaming *n, uint32_t *runs)
{
    const struct tw_sched_program *p = n->p;

    for (int news = 1; news;) {
        news = 0;
        for (uint32_t r = 0; r < p->n_runs; r++) {
            uint32_t first = p->runs[r].first, last = first + p->runs[r].count - 1;
            for (uint32_t q = first; q <= last; q++) {
                if (p->pieces[q].loop >= 0)
                    news |= flow(n, q, q);
                if (q < last)
                    news |= flow(n, q, q + 1);
            }
            uint32_t count = tw_sched_successors(p, r, runs);
            for (uint32_t i = 0; i < count; i++)
                if (runs[i] < p->n_runs)
                    news |= flow(n, last, p->runs[runs[i]].first);
        }
    }
}

/* ---- readers */

/* Joins all writes that a read may follow. Returns one of them, or -1 when there is none. */
static int32_t join_reaching(struct renaming *n, const struct tw_sched_ref *ref, uint32_t piece, int *undefined)
{
    const uint64_t *in = n->in + piece * n->words;
    int32_t one = -1;

    for (unsigned l = 0; l < ref->count; l++) {
        uint32_t leaf = leaf_of(n->p, ref, l);
        for (int32_t s = n->first_of[leaf]; s >= 0; s = n->sites[s].next) {
            if (n->local[leaf] >= 0 ? s != n->local[leaf] : !has(in, (uint32_t)s))
                continue;
            if (!n->sites[s].defined) {
                *undefined = 1;
                continue;
            }
            if (one >= 0)
                join(n, one, s);
            one = s;
            if (n->local[leaf] < 0 && n->p->pieces[piece].loop >= 0)
                n->exposed[s] = 1;
        }
    }
    return one;
}

static void read_refs(struct renaming *n, uint32_t i, uint32_t piece, int32_t *reached)
{
    struct tw_sched_program *p = n->p;
    struct tw_sched_op *op = &p->ops[i];

    for (unsigned k = 0; k < op->n_refs; k++) {
        const struct tw_sched_ref *ref = &op->refs[k];
        int undefined = 0;
        if (ref->var < 0 || ref->writes)
            continue;
        reached[k] = join_reaching(n, ref, piece, &undefined);
        const struct tw_sched_var *v = &p->vars[ref->var];
        if (undefined)
            tw_sched_fault(p, op,
                           "%.*s, or a part of it, is read before it is written: give it a value, or declare it "
                           "by .in",
                           (int)v->size, v->name);
        else if (reached[k] < 0)
            tw_sched_fault(p, op, "no way leads to this operation");
    }
}

/* Walks a piece: reads, then writes, of each operation in turn. */
static void walk(struct renaming *n, uint32_t piece)
{
    struct tw_sched_program *p = n->p;
    const struct tw_sched_piece *q = &p->pieces[piece];

    memset(n->local, 0xff, p->n_var_leaves * sizeof *n->local);
    for (uint32_t i = q->first; i < q->first + q->count; i++) {
        struct tw_sched_op *op = &p->ops[i];
        int32_t reached[SCHED_REFS];
        memset(reached, 0xff, sizeof reached);
        read_refs(n, i, piece, reached);
        for (unsigned k = 0; k < op->n_refs; k++) {
            const struct tw_sched_ref *ref = &op->refs[k];
            if (ref->var < 0)
                continue;
            if (!ref->writes) {
                op->refs[k].web = reached[k];
                continue;
            }
            int32_t first = site_of(n, (int32_t)i, k, leaf_of(p, ref, 0));
            op->refs[k].web = first;
            for (unsigned l = 0; l < ref->count; l++) {
                int32_t s = site_of(n, (int32_t)i, k, leaf_of(p, ref, l));
                join(n, s, first);
                n->local[leaf_of(p, ref, l)] = s;
            }
            /* What is changed in place stays in place. */
            for (unsigned j = 0; j < op->n_refs; j++)
                if (op->refs[j].var == ref->var && !op->refs[j].writes && reached[j] >= 0)
                    join(n, first, reached[j]);
        }
    }
}

/* Values that must be somewhere at the end are read there. */
static int read_outputs(struct renaming *n, uint32_t *runs, int32_t *out_site)
{
    struct tw_sched_program *p = n->p;

    for (uint32_t v = 0; v < p->n_vars; v++) {
        out_site[v] = -1;
        if (p->vars[v].out < 0)
            continue;
        for (uint32_t r = 0; r < p->n_runs; r++) {
            uint32_t count = tw_sched_successors(p, r, runs), leaves = 0;
            for (uint32_t i = 0; i < count; i++)
                leaves |= runs[i] == p->n_runs;
            if (!leaves)
                continue;
            uint32_t last = p->runs[r].first + p->runs[r].count - 1;
            const uint64_t *in = n->in + last * n->words, *made = n->made + last * n->words,
                           *lost = n->lost + last * n->words;
            for (unsigned l = 0; l < tw_sched_kinds[p->vars[v].kind].n_leaves; l++)
                for (int32_t s = n->first_of[p->vars[v].leaf + l]; s >= 0; s = n->sites[s].next) {
                    if (!has(made, (uint32_t)s) && (!has(in, (uint32_t)s) || has(lost, (uint32_t)s)))
                        continue;
                    if (!n->sites[s].defined)
                        return tw_sched_fail(p, p->vars[v].out_place, TW_E_FORMAT,
                                             "%.*s is declared by .out, but not written on every way",
                                             (int)p->vars[v].size, p->vars[v].name);
                    if (out_site[v] >= 0)
                        join(n, out_site[v], s);
                    out_site[v] = s;
                }
        }
    }
    return 0;
}

/* ---- webs */

static uint64_t free_candidates(const struct tw_sched_program *p, unsigned kind)
{
    uint64_t set = 0;

    for (unsigned c = 0; c < p->n_registers[kind]; c++) {
        const struct tw_register *reg = &tw_registers[p->registers[kind][c]];
        int kept = 0;
        for (unsigned i = 0; i < reg->n_leaves; i++)
            kept |= has(p->keep, reg->leaves[i]);
        if (!kept)
            set |= (uint64_t)1 << c;
    }
    return set;
}

/* Leaves only registers that can stand in an operand. */
static void restrict_to_operand(const struct tw_sched_program *p, struct tw_sched_web *web,
                                const struct tw_sched_op *op, const struct tw_sched_ref *ref)
{
    for (unsigned a = 0; a < op->n_alt; a++) {
        const struct tw_operand_info *o = &tw_instructions[op->alt[a].instruction].operands[ref->operand];
        for (unsigned c = 0; c < p->n_registers[web->kind]; c++) {
            int reg = tw_sched_part(p, p->registers[web->kind][c], tw_sched_ref_part(p, ref));
            if (reg < 0 || (o->bits != 0 && !tw_operand_fits(o, reg)))
                web->candidates &= ~((uint64_t)1 << c);
        }
    }
}

/* A web has the register that .in or .out of its variable asks for. */
static void restrict_to_border(struct tw_sched_program *p, struct tw_sched_web *web, unsigned out)
{
    const struct tw_sched_var *v = &p->vars[web->var];
    int reg = out ? v->out : v->in;
    uint64_t only = 0;

    if (web->border >= 0 && web->border != reg) {
        tw_sched_fault_in(p, v->out_place,
                          "%.*s comes in %s and must be in %s at the end, but its value stays in one register: move it "
                          "to another name (mov %%other, %.*s) and let .out be of that",
                          (int)v->size, v->name, tw_registers[web->border].name, tw_registers[reg].name, (int)v->size,
                          v->name);
        return;
    }
    web->border = (int16_t)reg;
    web->border_out = (uint8_t)out;
    for (unsigned c = 0; c < p->n_registers[web->kind]; c++)
        if (p->registers[web->kind][c] == reg)
            only = (uint64_t)1 << c;
    /* A border register may be one that is kept otherwise. */
    web->candidates = (web->candidates | ~free_candidates(p, web->kind)) & only;
}

/* The loop that alone writes a web, and afresh in each iteration; -1: there is none. */
static void find_rotation(struct renaming *n)
{
    struct tw_sched_program *p = n->p;

    for (uint32_t w = 0; w < p->n_webs; w++)
        p->webs[w].rotates = -2;
    for (uint32_t s = 0; s < n->n_sites; s++) {
        const struct site *site = &n->sites[s];
        int32_t loop = site->op < 0 ? -1 : p->pieces[p->ops[site->op].piece].loop;
        if (site->web < 0)
            continue;
        struct tw_sched_web *web = &p->webs[site->web];
        if (n->exposed[s])
            loop = -1;
        if (site->op >= 0 || site->defined)
            web->rotates = web->rotates == -2 || web->rotates == loop ? loop : -1;
    }
    for (uint32_t w = 0; w < p->n_webs; w++)
        if (p->webs[w].rotates < 0)
            p->webs[w].rotates = -1;
}

static void number_webs(struct renaming *n)
{
    struct tw_sched_program *p = n->p;

    for (uint32_t s = 0; s < n->n_sites; s++) {
        struct site *top = &n->sites[root(n, (int32_t)s)];
        if (top->web < 0) {
            const struct site *one = &n->sites[s];
            int var = one->op < 0 ? -1 - one->op : p->ops[one->op].refs[one->ref].var;
            top->web = (int32_t)p->n_webs++;
            p->webs[top->web] = (struct tw_sched_web){
                (int16_t)var, p->vars[var].kind, free_candidates(p, p->vars[var].kind), -1, -1, 0};
        }
        n->sites[s].web = top->web;
    }
}

static int make_webs(struct renaming *n, const int32_t *out_site)
{
    struct tw_sched_program *p = n->p;

    p->webs = tw_arena_alloc(&p->arena, n->n_sites + 1, sizeof *p->webs);
    if (p->webs == NULL)
        return tw_sched_no_memory(p);
    number_webs(n);
    for (uint32_t i = 0; i < p->n_ops; i++)
        for (unsigned k = 0; k < p->ops[i].n_refs; k++) {
            struct tw_sched_ref *ref = &p->ops[i].refs[k];
            if (ref->var < 0 || ref->web < 0)
                continue;
            ref->web = n->sites[ref->web].web;
            restrict_to_operand(p, &p->webs[ref->web], &p->ops[i], ref);
        }
    find_rotation(n);
    for (uint32_t v = 0; v < p->n_vars; v++) {
        p->vars[v].in_web = p->vars[v].out_web = -1;
        if (p->vars[v].in >= 0) {
            int32_t s = n->first_of[p->vars[v].leaf];
            while (n->sites[s].op >= 0)
                s = n->sites[s].next;
            p->vars[v].in_web = n->sites[s].web;
            restrict_to_border(p, &p->webs[n->sites[s].web], 0);
        }
        if (out_site[v] >= 0) {
            p->vars[v].out_web = n->sites[out_site[v]].web;
            restrict_to_border(p, &p->webs[n->sites[out_site[v]].web], 1);
        }
    }
    return 0;
}

static void fail_candidates(struct tw_sched_program *p, const struct tw_sched_op *op, const struct tw_sched_web *web)
{
    const struct tw_sched_var *v = &p->vars[web->var];

    if (web->border < 0)
        tw_sched_fault(p, op, "no register of kind %s fits all uses of %.*s: move it to another name between them",
                       tw_sched_kinds[v->kind].name, (int)v->size, v->name);
    else
        tw_sched_fault(p, op,
                       "%.*s is in %s, by .%s, which does not fit all its uses: move it to another name between them",
                       (int)v->size, v->name, tw_registers[web->border].name, web->border_out ? "out" : "in");
}

/* Every web that is used needs a register that fits all its uses. */
static void check_candidates(struct tw_sched_program *p)
{
    for (uint32_t i = 0; i < p->n_ops; i++)
        for (unsigned k = 0; k < p->ops[i].n_refs; k++) {
            const struct tw_sched_ref *ref = &p->ops[i].refs[k];
            if (ref->var < 0 || ref->web < 0 || p->webs[ref->web].candidates != 0)
                continue;
            fail_candidates(p, &p->ops[i], &p->webs[ref->web]);
            p->webs[ref->web].candidates = ~(uint64_t)0; /* told once */
        }
}

/* ---- what must not be touched */

static int is_kept(const struct tw_sched_program *p, int reg, unsigned first, unsigned count)
{
    for (unsigned i = first; i < first + count && i < tw_registers[reg].n_leaves; i++)
        if (has(p->keep, tw_registers[reg].leaves[i]))
            return 1;
    return 0;
}

/*
 * A kept register is written only when the text names it, or when .in or .out puts a name there that is written: others
 * are given no such register.
 */
static void check_kept(struct tw_sched_program *p)
{
    for (uint32_t i = 0; i < p->n_ops; i++)
        for (unsigned k = 0; k < p->ops[i].n_refs; k++) {
            const struct tw_sched_ref *ref = &p->ops[i].refs[k];
            const struct tw_sched_web *web = ref->var >= 0 && ref->web >= 0 ? &p->webs[ref->web] : NULL;
            int reg = ref->var < 0 ? ref->reg : web != NULL ? web->border : -1;
            if (!ref->writes || reg < 0 || !is_kept(p, reg, ref->first, ref->count))
                continue;
            if (web == NULL)
                tw_sched_fault(p, &p->ops[i], "%s is written here, and must not be touched by .keep",
                               tw_registers[reg].name);
            else
                tw_sched_fault(p, &p->ops[i],
                               "%.*s is written here; it is in %s, by .%s, which must not be touched by .keep",
                               (int)p->vars[web->var].size, p->vars[web->var].name, tw_registers[reg].name,
                               web->border_out ? "out" : "in");
            break;
        }
}

int tw_sched_rename(struct tw_sched_program *p)
{
    struct renaming n = {p, NULL, 0, NULL, 0, NULL, NULL, NULL, NULL, NULL};
    uint32_t *runs = tw_arena_alloc(&p->arena, p->n_runs + 1, sizeof *runs);
    int32_t *out_site = tw_arena_alloc(&p->arena, p->n_vars + 1, sizeof *out_site);
    int code;

    if (runs == NULL || out_site == NULL)
        return tw_sched_no_memory(p);
    if ((code = make_sites(&n)) < 0)
        return code;
    for (uint32_t q = 0; q < p->n_pieces; q++)
        summarize(&n, q);
    for (uint32_t s = 0; s < n.n_sites; s++) /* those of the entry reach the first piece */
        if (n.sites[s].op < 0)
            put(n.in, s);
    reach(&n, runs);
    for (uint32_t q = 0; q < p->n_pieces; q++)
        walk(&n, q);
    if ((code = read_outputs(&n, runs, out_site)) < 0 || (code = make_webs(&n, out_site)) < 0)
        return code;
    check_candidates(p);
    check_kept(p);
    return p->n_faults > 0 ? TW_E_FORMAT : 0;
}
