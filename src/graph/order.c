#include "graph/order.h"

static int before(const struct tw_order *a, const struct tw_order *b)
{
    return a->key != b->key ? a->key < b->key : a->item < b->item;
}

static void sift(struct tw_order *list, size_t hole, size_t n)
{
    struct tw_order moved = list[hole];
    for (size_t child = 2 * hole + 1; child < n; child = 2 * hole + 1) {
        if (child + 1 < n && before(&list[child], &list[child + 1]))
            child++;
        if (!before(&moved, &list[child]))
            break;
        list[hole] = list[child];
        hole = child;
    }
    list[hole] = moved;
}

void tw_order_sort(struct tw_order *list, size_t n)
{
    for (size_t i = n / 2; i-- > 0;)
        sift(list, i, n);
    for (size_t last = n; last-- > 1;) {
        struct tw_order largest = list[0];
        list[0] = list[last];
        list[last] = largest;
        sift(list, 0, last);
    }
}
