#include "cli/doctor.h"

#include <jansson.h>
#include <stdarg.h>
#include <string.h>

static const struct {
    const char *name;
    tw_check_function *check;
} checks[TW_CHECKS] = {
    [TW_CHECK_PCI] = {"pci device", tw_check_pci},
    [TW_CHECK_KERNEL] = {"kernel", tw_check_kernel},
    [TW_CHECK_MODULE] = {"module", tw_check_module},
    [TW_CHECK_NODE] = {"node", tw_check_node},
    [TW_CHECK_PERMISSION] = {"permission", tw_check_permission},
    [TW_CHECK_IOMMU] = {"iommu", tw_check_iommu},
    [TW_CHECK_FIRMWARE] = {"firmware", tw_check_firmware},
    [TW_CHECK_MEMLOCK] = {"locked memory", tw_check_memlock},
    [TW_CHECK_CONTEXTS] = {"contexts", tw_check_contexts},
};

void tw_check_set(struct tw_check *check, enum tw_check_state state, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    check->state = state;
    vsnprintf(check->text, sizeof check->text, fmt, args);
    va_end(args);
}

void tw_check_mend(struct tw_check *check, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vsnprintf(check->mend, sizeof check->mend, fmt, args);
    va_end(args);
}

static int find_first(const struct tw_diagnosis *d, enum tw_check_state state)
{
    for (int i = 0; i < TW_CHECKS; i++)
        if (d->checks[i].state == state)
            return i;
    return -1;
}

void tw_doctor_examine(const struct tw_patient *patient, struct tw_diagnosis *d)
{
    struct tw_findings findings;
    memset(&findings, 0, sizeof findings);
    memset(d, 0, sizeof *d);
    tw_doctor_look_around(patient, &findings);
    findings.file.fd = -1;
    for (int i = 0; i < TW_CHECKS; i++) {
        d->checks[i].name = checks[i].name;
        checks[i].check(patient, &findings, &d->checks[i]);
    }
    if (findings.file.fd >= 0)
        tw_driver_close(&findings.file);
    d->first = find_first(d, TW_CHECK_FAILED);
    if (d->first < 0)
        d->first = find_first(d, TW_CHECK_WARNING);
}

int tw_doctor_healthy(const struct tw_diagnosis *d)
{
    return find_first(d, TW_CHECK_FAILED) < 0;
}

static const char *state_word(enum tw_check_state state)
{
    static const char *const words[] = {[TW_CHECK_OK] = "ok",
                                        [TW_CHECK_UNKNOWN] = "unknown",
                                        [TW_CHECK_WARNING] = "warning",
                                        [TW_CHECK_FAILED] = "failed"};
    return words[state];
}

void tw_doctor_print(const struct tw_diagnosis *d, FILE *to)
{
    for (int i = 0; i < TW_CHECKS; i++) {
        const struct tw_check *c = &d->checks[i];
        fprintf(to, "%-8s %-14s %s\n", state_word(c->state), c->name, c->text);
        if (c->mend[0] != '\0')
            fprintf(to, "%-8s %-14s mend: %s\n", "", "", c->mend);
    }
    if (d->first < 0)
        fputs("The NPU is ready.\n", to);
    else if (tw_doctor_healthy(d))
        fprintf(to, "The NPU is ready; see the warning about %s.\n", d->checks[d->first].name);
    else
        fprintf(to, "Mend first: %s.\n", d->checks[d->first].name);
}

int tw_doctor_print_json(const struct tw_diagnosis *d, FILE *to)
{
    json_t *list = json_array();
    for (int i = 0; i < TW_CHECKS; i++) {
        const struct tw_check *c = &d->checks[i];
        json_t *mend = c->mend[0] != '\0' ? json_string(c->mend) : json_null();
        json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:o}", "name", c->name, "state", state_word(c->state),
                                              "text", c->text, "mend", mend));
    }
    json_t *first = d->first >= 0 ? json_string(d->checks[d->first].name) : json_null();
    json_t *all = json_pack("{s:b, s:o, s:o}", "ok", tw_doctor_healthy(d), "first", first, "checks", list);
    int lost = all == NULL || json_dumpf(all, to, JSON_INDENT(2)) != 0 || fputc('\n', to) == EOF;
    json_decref(all);
    return lost;
}
