/*
 * What a schedule's times mean: how long values live and how many names they need, whether the registers can suffice,
 * and how often the loop's own code runs.
 */
#include "isa/sched/modulo.h"

#include <inttypes.h>
#include <string.h>

enum { OPEN = 1 << 20 };

/* ---- lives */

/* For every leaf of a web that rotates here, from its first write to its last read. */
struct life {
    int32_t from, to;
};

static void list_lives(const struct tw_sched_program *p, const struct tw_sched_modulo *m, struct life *lives)
{
    for (uint32_t i = 0; i < p->n_webs * SCHED_LEAVES; i++)
        lives[i] = (struct life){OPEN, -OPEN};
    for (uint32_t i = 0; i < m->n; i++)
        for (unsigned k = 0; k < tw_sched_body_op(p, m, i)->n_refs; k++) {
            const struct tw_sched_ref *ref = &tw_sched_body_op(p, m, i)->refs[k];
            if (ref->var < 0 || p->webs[ref->web].rotates != m->loop)
                continue;
            int32_t at = m->time[i] + ref->cycle - 1;
            int32_t end = at + (ref->writes || ref->bypass != TW_BYPASS_NONE);
            for (unsigned l = 0; l < ref->count; l++) {
                struct life *life = &lives[(uint32_t)ref->web * SCHED_LEAVES + ref->first + l];
                if (ref->writes && at < life->from)
                    life->from = at;
                if (end > life->to)
                    life->to = end;
            }
        }
}

static uint32_t copies_needed(const struct tw_sched_program *p, const struct tw_sched_modulo *m,
                              const struct life *lives)
{
    int32_t longest = 1;

    for (uint32_t i = 0; i < p->n_webs * SCHED_LEAVES; i++)
        if (lives[i].from < OPEN && lives[i].to - lives[i].from > longest)
            longest = lives[i].to - lives[i].from;
    return ((uint32_t)longest + m->interval - 1) / m->interval;
}

/* ---- trips */

static int part_word_in_row(const struct tw_sched_program *p, const struct tw_sched_modulo *m, uint32_t row)
{
    for (uint32_t i = 0; i < m->n; i++)
        if (tw_sched_body_op(p, m, i)->part_word && (uint32_t)m->time[i] % m->interval == row)
            return 1;
    return 0;
}

/* Where the loop's own code begins: when the last stage has been reached, and without a part-word store at its end. */
static int choose_start(const struct tw_sched_program *p, struct tw_sched_modulo *m)
{
    uint32_t least = (uint32_t)m->span > m->interval ? (uint32_t)m->span - m->interval : 0;

    for (m->start = least; m->start < least + m->interval; m->start++)
        if (!part_word_in_row(p, m, (m->start + m->interval - 1) % m->interval))
            return 1;
    return 0;
}

/* How often the loop's code runs, and what is peeled off. Returns 0 when the facts about the trips do not allow it. */
static int count_passes(const struct tw_sched_program *p, struct tw_sched_modulo *m)
{
    const struct tw_sched_loop *l = &p->loops[m->loop];
    int64_t before = (m->start + m->interval - 1) / m->interval, copies = m->copies;

    if (l->trips >= 0) {
        m->passes = l->trips > before ? (l->trips - before) / copies : 0;
        if (m->passes < 2)
            m->passes = 0;
        m->peeled = (uint32_t)(l->trips - m->passes * copies);
        return 1;
    }
    if ((copies & (copies - 1)) != 0 || l->multiple % copies != 0)
        return 0;
    int64_t extra = (copies - before % copies) % copies;
    m->peeled = (uint32_t)(before + extra);
    m->passes = -1;
    return l->least >= m->peeled + copies && m->peeled < 32;
}

/* ---- register pressure, a first look */

static int kind_file(const struct tw_sched_kind *k)
{
    static const struct {
        const char *name;
        enum tw_sched_file file;
    } files[] = {{"r", TW_FILE_R},   {"p", TW_FILE_P},   {"m", TW_FILE_M},   {"dn", TW_FILE_DN},
                 {"dj", TW_FILE_DJ}, {"dc", TW_FILE_DC}, {"s", TW_FILE_S},   {"wl", TW_FILE_X},
                 {"wh", TW_FILE_X},  {"x", TW_FILE_X},   {"bm", TW_FILE_BM}, {"cm", TW_FILE_BM}};

    for (unsigned i = 0; i < sizeof files / sizeof files[0]; i++)
        if (strcmp(files[i].name, k->name) == 0)
            return (int)files[i].file;
    return -1;
}

/* Adds a web's values to the number of registers in use in each cycle of the interval. */
static void add_pressure(const struct tw_sched_modulo *m, const struct life *lives, unsigned n_leaves, uint16_t *rows)
{
    int32_t from = OPEN, to = -OPEN;

    for (unsigned i = 0; i < n_leaves; i++) {
        from = lives[i].from < from ? lives[i].from : from;
        to = lives[i].to > to ? lives[i].to : to;
    }
    for (int32_t t = from; t < to; t++)
        rows[((t % (int32_t)m->interval) + (int32_t)m->interval) % (int32_t)m->interval]++;
}

/* The file of which more registers are in use at once than there are, or -1. Halves and quarters are not looked at. */
static int overfull(struct tw_sched_program *p, const struct tw_sched_modulo *m, const struct life *lives,
                    uint16_t *rows, unsigned *most)
{
    for (int file = 0; file < TW_FILE_COUNT; file++) {
        memset(rows, 0, m->interval * sizeof *rows);
        for (uint32_t w = 0; w < p->n_webs; w++) {
            const struct tw_sched_kind *k = &tw_sched_kinds[p->webs[w].kind];
            if (p->webs[w].rotates == m->loop && kind_file(k) == file)
                for (unsigned half = 0; half < (strcmp(k->name, "cm") == 0 ? 2u : 1u); half++)
                    add_pressure(m, &lives[w * SCHED_LEAVES], k->n_leaves, rows);
        }
        *most = 0;
        for (uint32_t row = 0; row < m->interval; row++)
            *most = rows[row] > *most ? rows[row] : *most;
        if (*most > tw_sched_file_sizes[file])
            return file;
    }
    return -1;
}

/* ---- all of it */

/* Lets the earliest operation be at 0; whole intervals do not change anything. */
static void normalize(struct tw_sched_modulo *m)
{
    int32_t least = OPEN, most = -OPEN;

    for (uint32_t i = 0; i < m->n; i++)
        least = m->time[i] < least ? m->time[i] : least;
    for (uint32_t i = 0; i < m->n; i++) {
        m->time[i] -= least;
        most = m->time[i] > most ? m->time[i] : most;
    }
    m->span = most + 1;
}

static int edges_hold(const struct tw_sched_modulo *m)
{
    for (uint32_t e = 0; e < m->edges.n; e++) {
        const struct tw_sched_edge *edge = &m->edges.list[e];
        if (m->time[edge->to] + (edge->later ? (int32_t)m->interval : 0) < m->time[edge->from] + edge->distance)
            return 0;
    }
    return 1;
}

static int find_names(struct tw_sched_program *p, struct tw_sched_modulo *m)
{
    struct life *lives = tw_arena_alloc(&p->arena, (size_t)p->n_webs * SCHED_LEAVES + 1, sizeof *lives);
    uint16_t *rows = tw_arena_alloc(&p->arena, m->interval, sizeof *rows);
    unsigned most;

    if (lives == NULL || rows == NULL)
        return tw_sched_no_memory(p);
    list_lives(p, m, lives);
    m->copies = copies_needed(p, m, lives);
    if (m->copies > SCHED_COPIES || m->copies * m->interval * 2 > TW_PROGRAM_BYTES) {
        tw_sched_modulo_note(m, "at %" PRIu32 ", values live through %" PRIu32 " iterations", m->interval, m->copies);
        return 0;
    }
    int file = overfull(p, m, lives, rows, &most);
    if (file >= 0) {
        tw_sched_modulo_note(m, "at %" PRIu32 ", %u registers of file %s are needed and there are %u", m->interval,
                             most, tw_sched_file_names[file], tw_sched_file_sizes[file]);
        return 0;
    }
    if (choose_start(p, m) && count_passes(p, m))
        return 1;
    tw_sched_modulo_note(m,
                         "at %" PRIu32 ", %" PRIu32 " iterations overlap under %" PRIu32
                         " names, and the trip count is not known to allow it (least=, multiple=)",
                         m->interval, ((uint32_t)m->span + m->interval - 1) / m->interval, m->copies);
    return 0;
}

int tw_sched_accept(struct tw_sched_program *p, struct tw_sched_modulo *m)
{
    normalize(m);
    return edges_hold(m) ? find_names(p, m) : 0;
}
