/* tilewright doctor: what keeps the NPU from working, and the command that mends it. */
#include "cli/cli.h"

#include "base/log.h"
#include "cli/doctor.h"
#include "cli/options.h"

static const char help_text[] = "Usage: tilewright doctor [--json]\n"
                                "Checks, in the order in which it must be there, all that the NPU needs: the\n"
                                "device, kernel, module, node, permission, IOMMU, firmware, locked memory and a\n"
                                "free context. Each check that fails comes with the command that mends it.\n"
                                "Changes nothing, needs no root, and works in a container.\n\n"
                                "  --json      print the checks as JSON\n"
                                "  --root DIR  look at the machine whose files are mounted at DIR\n\n"
                                "The exit code is 0 when no check failed.\n\n"
                                "Example: tilewright doctor\n";

int tw_cmd_doctor(int argc, char **argv)
{
    int json = 0, help = 0;
    const char *root = "";
    const struct tw_option options[] = {
        {.name = "json", .kind = TW_OPTION_FLAG, .to.flag = &json},
        {.name = "root", .kind = TW_OPTION_TEXT, .to.text = &root},
        {.name = "help", .letter = 'h', .kind = TW_OPTION_FLAG, .to.flag = &help},
    };
    struct tw_error err = {0};
    int operands = tw_options_read(options, sizeof options / sizeof options[0], argc, argv, &err);
    if (operands < 0)
        return tw_usage_error("doctor", err.text);
    if (help) {
        fputs(help_text, stdout);
        return TW_EXIT_OK;
    }
    if (operands > 0)
        return tw_usage_error("doctor", "doctor takes no operands");
    const struct tw_calls calls = tw_system_calls();
    const struct tw_patient patient = {.root = root, .calls = &calls};
    struct tw_diagnosis diagnosis;
    tw_doctor_examine(&patient, &diagnosis);
    if (!json) {
        tw_doctor_print(&diagnosis, stdout);
    } else if (tw_doctor_print_json(&diagnosis, stdout) != 0) {
        tw_note("the checks cannot be written as JSON");
        return TW_EXIT_FAILED;
    }
    return tw_flush_stdout() == 0 && tw_doctor_healthy(&diagnosis) ? TW_EXIT_OK : TW_EXIT_FAILED;
}
