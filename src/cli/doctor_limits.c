/* Checks: what this process and all others leave of the NPU's limits. */
#include "cli/doctor.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { CAPABILITY_IPC_LOCK = 14 /* linux/capability.h */ };

static int may_lock_all(const struct tw_patient *patient)
{
    char line[128];
    if (!tw_doctor_find_line(patient, "/proc/self/status", "CapEff:", line, sizeof line))
        return 0;
    return (strtoull(line + strlen("CapEff:"), NULL, 16) >> CAPABILITY_IPC_LOCK & 1) != 0;
}

void tw_check_memlock(const struct tw_patient *patient, struct tw_findings *f, struct tw_check *c)
{
    static const char name[] = "Max locked memory";
    char line[256], *end = NULL;
    if (!tw_doctor_find_line(patient, "/proc/self/limits", name, line, sizeof line)) {
        tw_check_set(c, TW_CHECK_UNKNOWN, "/proc does not say how much memory may be locked");
        return;
    }
    const char *limit = line + strlen(name);
    limit += strspn(limit, " ");
    unsigned long long bytes = strtoull(limit, &end, 10);
    if (strncmp(limit, "unlimited", 9) == 0 || may_lock_all(patient)) {
        tw_check_set(c, TW_CHECK_OK, "no limit");
    } else if (end == limit) {
        tw_check_set(c, TW_CHECK_UNKNOWN, "/proc does not say how much memory may be locked");
    } else if (bytes >= TW_XDNA_HEAP_BYTES) {
        tw_check_set(c, TW_CHECK_OK, "%llu MiB", bytes >> 20);
    } else {
        tw_check_set(c, TW_CHECK_WARNING,
                     "only %llu KiB may be locked; some drivers count the NPU's 64 MiB heap and buffers against this",
                     bytes >> 10);
        tw_check_mend(c, f->container ? "docker run --ulimit memlock=-1 ..."
                                      : "echo '* - memlock unlimited' | sudo tee /etc/security/limits.d/90-npu.conf "
                                        "(then log in again)");
    }
}

/* A process as "NAME (pid 12)", or "pid 12" when its name cannot be read. */
static void add_process(const struct tw_patient *patient, int64_t pid, char *text, size_t size)
{
    char path[TW_PATH_BYTES], name[64];
    size_t used = strlen(text);
    const char *comma = used > 0 ? ", " : "";
    if (tw_machine_path(path, patient->root, "/proc/%" PRId64 "/comm", pid) == 0 &&
        tw_machine_line(path, name, sizeof name) > 0)
        snprintf(text + used, size - used, "%s%s (pid %" PRId64 ")", comma, name, pid);
    else
        snprintf(text + used, size - used, "%spid %" PRId64, comma, pid);
}

void tw_check_contexts(const struct tw_patient *patient, struct tw_findings *f, struct tw_check *c)
{
    const struct tw_driver_facts *facts = &f->facts;
    char owners[400] = "", pids[200] = "";
    if (f->file.fd < 0 || !facts->contexts_known) {
        tw_check_set(c, TW_CHECK_UNKNOWN, "only the open driver tells");
        return;
    }
    if (facts->n_contexts < facts->contexts_max) {
        tw_check_set(c, TW_CHECK_OK, "%u of %u are free", facts->contexts_max - facts->n_contexts, facts->contexts_max);
        return;
    }
    for (unsigned i = 0; i < facts->n_contexts && i < TW_CONTEXTS_SHOWN; i++) {
        if (!tw_facts_first_of_process(facts, i))
            continue;
        size_t used = strlen(pids);
        add_process(patient, facts->contexts[i].pid, owners, sizeof owners);
        snprintf(pids + used, sizeof pids - used, " %" PRId64, facts->contexts[i].pid);
    }
    tw_check_set(c, TW_CHECK_FAILED, "all %u are taken: %s", facts->contexts_max, owners);
    tw_check_mend(c, "kill%s", pids);
}
