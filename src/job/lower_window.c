/* Windows, and the room that the array needs around them. */
#include "job/lower.h"

static int32_t add_window(struct lower *l, const struct lower_window *w)
{
    l->windows[l->n_windows] = *w;
    l->windows[l->n_windows].id = -1;
    return l->n_windows++;
}

int32_t lower_window_of(struct lower *l, int32_t base, tw_id id)
{
    const struct tw_tensor *t = &l->g->tensors[id];
    return add_window(
        l,
        &(struct lower_window){
            .base = base, .cols = t->cols, .rows = t->rows, .batch = t->batch, .form = l->forms[id], .original = id});
}

int32_t lower_fresh(struct lower *l, const char *name, enum tw_type type, int64_t cols, int64_t rows, int64_t batch)
{
    l->bases[l->n_bases] = (struct lower_base){.original = TW_NONE,
                                               .name = name,
                                               .type = type,
                                               .cols = cols,
                                               .rows = rows,
                                               .batch = batch,
                                               .pitch = cols,
                                               .height = rows,
                                               .copies = -1,
                                               .id = -1};
    return add_window(l, &(struct lower_window){
                             .base = l->n_bases++,
                             .cols = cols,
                             .rows = rows,
                             .batch = batch,
                             .form = {.is_known = 1, .row_step = {0, 1, 0}, .batch_step = {1, 0, 0}},
                             .original = TW_NONE,
                         });
}

int32_t lower_split(struct lower *l, int32_t w, int32_t heads)
{
    struct lower_window part = l->windows[w];
    part.cols /= heads;
    part.batch = heads;
    part.form.batch_step = (struct lower_spot){0, 0, heads > 1 ? part.cols : 0};
    return add_window(l, &part);
}

/* How far the last matrix lies from the first, in columns and rows. */
static int64_t last_col(const struct lower_window *w)
{
    return w->batch == 1 ? 0 : (w->batch - 1) * w->form.batch_step.col;
}

static int64_t last_row(const struct lower_window *w)
{
    return w->batch == 1 ? 0 : (w->batch - 1) * w->form.batch_step.row;
}

/* Nonzero when rows follow one another in the base, and matrices are its own or lie side by side. */
static int is_plain(const struct lower *l, const struct lower_window *w, uint32_t cols)
{
    const struct lower_base *base = &l->bases[w->base];
    const struct lower_form *f = &w->form;
    const int64_t most = LOWER_PITCH / (base->type == TW_F32 ? 4 : 2);
    if (base->keeps || !f->is_known || f->row_step.matrix != 0 || f->row_step.row != 1 || f->row_step.col != 0)
        return 0;
    if (w->batch > 1 && (f->batch_step.row != 0 || (f->batch_step.matrix != 0 && f->batch_step.col != 0)))
        return 0;
    /* Rows and matrices have to begin at whole words. */
    return f->at.col % 2 == 0 && (w->batch == 1 || f->batch_step.col % 2 == 0) && base->cols <= most &&
           f->at.col + last_col(w) + cols <= most;
}

/* Nonzero when nothing but padding is zeroed by who runs the launch. */
static int has_free_margin(const struct lower *l, const struct lower_window *w)
{
    const struct lower_base *base = &l->bases[w->base];
    const int rows_end = w->rows % LOWER_ZEROED == 0 || w->form.at.row + w->rows == base->rows;
    const int cols_end = w->cols % LOWER_ZEROED == 0 || w->form.at.col + w->cols == base->cols;
    return rows_end && cols_end;
}

int lower_can_read(const struct lower *l, const struct lower_window *w, uint32_t cols)
{
    return is_plain(l, w, cols) && has_free_margin(l, w);
}

int lower_can_write(const struct lower *l, const struct lower_window *w, uint32_t cols)
{
    const struct lower_base *base = &l->bases[w->base];
    if (!is_plain(l, w, cols) || base->type == TW_F16 || w->rows != base->rows)
        return 0;
    if (w->batch == 1 || w->form.batch_step.col == 0)
        return w->cols == base->cols && w->batch == base->batch;
    return w->form.batch_step.col == w->cols && w->cols * w->batch == base->cols && base->batch == 1;
}

static void grow(int64_t *to, int64_t least)
{
    if (*to < least)
        *to = least;
}

void lower_make_room(struct lower *l, const struct lower_window *w, uint32_t rows, uint32_t cols)
{
    struct lower_base *base = &l->bases[w->base];
    grow(&base->pitch, lower_round_up(w->form.at.col + last_col(w) + cols, LOWER_ZEROED));
    grow(&base->height, w->form.at.row + last_row(w) + rows);
}
