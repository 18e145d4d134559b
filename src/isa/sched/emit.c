#include "isa/sched/emit.h"

#include <string.h>

uint32_t tw_sched_last_copy(const struct tw_sched_modulo *m)
{
    return (m->peeled + m->copies - 1) % m->copies;
}

uint32_t tw_sched_copy_of(const struct tw_sched_program *p, const struct tw_sched_cell *cell, int32_t web)
{
    int32_t loop = p->webs[web].rotates;

    if (loop < 0)
        return 0;
    if (p->pieces[p->ops[cell->op].piece].loop == loop)
        return cell->copy;
    return tw_sched_last_copy(p->loops[loop].modulo);
}

/* Appends n rows without operations; returns the first, or -1. */
static int64_t append(struct tw_sched_program *p, struct tw_sched_rows *rows, uint32_t n, uint32_t run)
{
    if (n > TW_PROGRAM_BYTES / 2 - rows->n) {
        tw_fail(p->err, TW_E_LIMIT, "the code has more than %d bundles: program memory holds no more",
                TW_PROGRAM_BYTES / 2);
        return TW_E_LIMIT;
    }
    if (rows->n + n > rows->room) {
        uint32_t room = 2 * (rows->n + n) + 64;
        struct tw_sched_row *list = tw_arena_alloc(&p->arena, room, sizeof *list);
        if (list == NULL)
            return tw_sched_no_memory(p);
        if (rows->n > 0)
            memcpy(list, rows->list, rows->n * sizeof *list);
        rows->list = list;
        rows->room = room;
    }
    for (uint32_t i = rows->n; i < rows->n + n; i++) {
        for (unsigned s = 0; s < TW_SLOT_COUNT; s++)
            rows->list[i].cells[s].op = -1;
        rows->list[i].flags = 0;
        rows->list[i].run = (int32_t)run;
    }
    rows->n += n;
    return rows->n - n;
}

static void put(const struct tw_sched_program *p, struct tw_sched_row *row, uint32_t op, unsigned alt, uint32_t copy)
{
    enum tw_slot slot = tw_instructions[p->ops[op].alt[alt].instruction].slot;
    row->cells[slot] = (struct tw_sched_cell){(int32_t)op, (uint8_t)alt, (uint8_t)copy};
}

/* Operations that the loop before has not finished. */
static void put_end(const struct tw_sched_program *p, struct tw_sched_rows *rows, uint32_t first,
                    const struct tw_sched_modulo *m)
{
    uint32_t last = tw_sched_last_copy(m);

    for (uint32_t i = 0; i < m->n; i++)
        for (int32_t d = 0, t; (t = tw_sched_after(m, (int32_t)i, d)) >= 0; d++)
            put(p, &rows->list[first + (uint32_t)t], m->ops[i], m->alt[i],
                (last + m->copies * (uint32_t)(d + 1) - (uint32_t)d) % m->copies);
}

/* Operations of the loop behind that its own code is too late for. */
static void put_begin(const struct tw_sched_program *p, struct tw_sched_rows *rows, uint32_t first,
                      const struct tw_sched_modulo *m)
{
    int64_t trips = p->loops[m->loop].trips;

    for (uint32_t i = 0; i < m->n; i++)
        for (uint32_t k = 0; (uint32_t)m->time[i] + k * m->interval < m->start && (trips < 0 || k < trips); k++)
            put(p, &rows->list[first + (uint32_t)m->time[i] + k * m->interval], m->ops[i], m->alt[i], k % m->copies);
}

static void put_loop(const struct tw_sched_program *p, struct tw_sched_rows *rows, uint32_t first,
                     const struct tw_sched_modulo *m)
{
    for (uint32_t i = 0; i < m->n; i++)
        for (uint32_t row = 0; row < m->copies * m->interval; row++) {
            uint32_t cycle = m->start + row - (uint32_t)m->time[i] + m->copies * m->interval;
            if (cycle % m->interval == 0)
                put(p, &rows->list[first + row], m->ops[i], m->alt[i], cycle / m->interval % m->copies);
        }
}

static int emit_piece(struct tw_sched_program *p, const struct tw_sched_region *region, uint32_t piece,
                      struct tw_sched_rows *rows)
{
    uint32_t run = (uint32_t)p->pieces[piece].run;
    struct tw_sched_modulo *before = tw_sched_loop_before(p, piece), *behind = tw_sched_loop_behind(p, piece);
    int64_t first = append(p, rows, (uint32_t)region->length, run);

    if (first < 0)
        return (int)first;
    for (uint32_t i = 0; i < region->n; i++)
        put(p, &rows->list[first + region->time[i]], region->ops[i], region->alt[i], 0);
    if (before != NULL)
        put_end(p, rows, (uint32_t)first, before);
    if (behind == NULL)
        return 0;
    put_begin(p, rows, (uint32_t)(first + region->tail), behind);
    rows->loop_first[behind->loop] = rows->n;
    if (behind->passes == 0)
        return 0;
    uint32_t count = behind->copies * behind->interval;
    if ((first = append(p, rows, count, run)) < 0)
        return (int)first;
    rows->loop_count[behind->loop] = count;
    put_loop(p, rows, (uint32_t)first, behind);
    rows->list[first].flags |= TW_PLACE_ALIGN;
    rows->list[rows->n - 1].flags |= TW_PLACE_LOOP_END;
    return 0;
}

int tw_sched_emit(struct tw_sched_program *p, const struct tw_sched_region *regions, struct tw_sched_rows *rows)
{
    memset(rows, 0, sizeof *rows);
    rows->run_first = tw_arena_alloc(&p->arena, p->n_runs + 1, sizeof *rows->run_first);
    rows->loop_first = tw_arena_alloc(&p->arena, p->n_loops + 1, sizeof *rows->loop_first);
    rows->loop_count = tw_arena_alloc(&p->arena, p->n_loops + 1, sizeof *rows->loop_count);
    if (rows->run_first == NULL || rows->loop_first == NULL || rows->loop_count == NULL)
        return tw_sched_no_memory(p);
    for (uint32_t r = 0; r < p->n_runs; r++) {
        const struct tw_sched_run *run = &p->runs[r];
        int code = 0;
        rows->run_first[r] = rows->n;
        for (uint32_t q = run->first; q < run->first + run->count && code == 0; q++)
            if (p->pieces[q].loop < 0)
                code = emit_piece(p, &regions[q], q, rows);
        /* What is jumped to is a bundle, also where no operation follows. */
        if (code == 0 && run->labelled && rows->run_first[r] == rows->n && append(p, rows, 1, r) < 0)
            code = TW_E_LIMIT;
        if (code < 0)
            return code;
        if (run->labelled)
            rows->list[rows->run_first[r]].flags |= TW_PLACE_ALIGN;
    }
    rows->run_first[p->n_runs] = rows->n;
    return 0;
}

uint32_t tw_sched_rows_behind(const struct tw_sched_program *p, const struct tw_sched_rows *rows, uint32_t row,
                              uint32_t *next)
{
    uint32_t run = (uint32_t)rows->list[row].run, n = 1;

    next[0] = row + 1;
    if (row + 1 == rows->run_first[run + 1]) {
        n = tw_sched_successors(p, run, next);
        for (uint32_t i = 0; i < n; i++)
            next[i] = rows->run_first[next[i]];
    }
    if ((rows->list[row].flags & TW_PLACE_LOOP_END) == 0)
        return n;
    for (uint32_t l = 0; l < p->n_loops; l++)
        if (rows->loop_count[l] > 0 && rows->loop_first[l] + rows->loop_count[l] == row + 1)
            next[n] = rows->loop_first[l];
    return n + 1;
}
