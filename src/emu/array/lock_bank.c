#include "emu/array/lock_bank.h"

#include "npu1/lock.h"

#include <string.h>

int tw_lock_try(struct tw_lock_bank *bank, unsigned lock, int value)
{
    int have = bank->values[lock];
    if (value < 0 ? have < -value : have != value)
        return 0;
    bank->values[lock] = (int8_t)(have - (value < 0 ? -value : value));
    return 1;
}

int tw_lock_wait(struct tw_lock_bank *bank, unsigned actor, unsigned lock, int value)
{
    if (bank->n_waiters == TW_LOCK_WAITERS)
        return -1;
    bank->waiters[bank->n_waiters++] =
        (struct tw_lock_waiter){.actor = (uint16_t)actor, .lock = (uint8_t)lock, .value = (int8_t)value};
    return 0;
}

static void take_out(struct tw_lock_bank *bank, unsigned i)
{
    bank->n_waiters--;
    memmove(bank->waiters + i, bank->waiters + i + 1, (bank->n_waiters - i) * sizeof bank->waiters[0]);
}

int tw_lock_grant(struct tw_lock_bank *bank, unsigned lock)
{
    for (unsigned i = 0; i < bank->n_waiters; i++) {
        struct tw_lock_waiter w = bank->waiters[i];
        if (w.lock == lock && tw_lock_try(bank, lock, w.value)) {
            take_out(bank, i);
            return w.actor;
        }
    }
    return -1;
}

void tw_lock_forget(struct tw_lock_bank *bank, unsigned actor)
{
    for (unsigned i = bank->n_waiters; i-- > 0;)
        if (bank->waiters[i].actor == actor)
            take_out(bank, i);
}

int tw_lock_add(struct tw_lock_bank *bank, unsigned lock, int value)
{
    int sum = bank->values[lock] + value;
    if (sum < 0)
        bank->underflow |= UINT64_C(1) << lock;
    else if (sum > TW_LOCK_VALUE_TOP)
        bank->overflow |= UINT64_C(1) << lock;
    else
        bank->values[lock] = (int8_t)sum;
    return sum < 0 || sum > TW_LOCK_VALUE_TOP ? -1 : 0;
}
