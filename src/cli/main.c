#include "cli/cli.h"

#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct command {
    const char *name, *summary;
    int (*run)(int argc, char **argv);
} commands[] = {
    {"transcribe", "turn speech into text", tw_cmd_transcribe},
    {"demo", "transcribe on the NPU and on the CPU, and compare", tw_cmd_demo},
    {"bench", "measure Whisper's encoder, operation by operation", tw_cmd_bench},
    {"model", "list, download and convert Whisper models", tw_cmd_model},
    {"as", "assemble a program for an NPU core", tw_cmd_as},
    {"dis", "disassemble the programs of NPU cores", tw_cmd_dis},
    {"image", "print what is inside an xclbin, a PDI, control code, ...", tw_cmd_image},
    {"vectors", "compare the emulator with results recorded on the chip", tw_cmd_vectors},
    {"emu", "run a program for the NPU on the emulated array", tw_cmd_emu},
    {"run", "run a program on the NPU", tw_cmd_run},
    {"gemm", "multiply matrices on the NPU, and say what bounds them", tw_cmd_gemm},
    {"overlay", "write the program for all matrix products as files", tw_cmd_overlay},
    {"info", "show the NPU, or what is missing", tw_cmd_info},
    {"doctor", "check what the NPU needs, and how to mend it", tw_cmd_doctor},
};

#define N_COMMANDS (sizeof commands / sizeof commands[0])

static void print_help(FILE *to)
{
    fputs("Usage: tilewright COMMAND [ARGUMENT]...\n"
          "Whisper speech to text.\n\n",
          to);
    for (size_t i = 0; i < N_COMMANDS; i++)
        fprintf(to, "  %-12s %s\n", commands[i].name, commands[i].summary);
    fputs("  help COMMAND what a command does and its options\n\n"
          "  --help       this text\n"
          "  --version    the version\n\n"
          "Example: tilewright model get base && tilewright transcribe -m base talk.wav\n",
          to);
}

int tw_usage_error(const char *command, const char *sentence)
{
    if (command == NULL)
        tw_note("%s; see tilewright --help", sentence);
    else
        tw_note("%s; see tilewright %s --help", sentence, command);
    return TW_EXIT_USAGE;
}

int tw_flush_stdout(void)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return 0;
    int reason = errno;
    struct tw_error err;
    tw_fail_errno(&err, TW_E_IO, reason, "writing to standard output failed");
    tw_note("%s", err.text);
    return TW_EXIT_FAILED;
}

static const struct command *find_command(const char *name)
{
    for (size_t i = 0; i < N_COMMANDS; i++)
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
    return NULL;
}

static int unknown_command(const char *name)
{
    struct tw_error err;
    tw_fail(&err, TW_E_ARGUMENT, "there is no command '%s'", name);
    return tw_usage_error(NULL, err.text);
}

static int help(int argc, char **argv)
{
    if (argc < 2) {
        print_help(stdout);
        return TW_EXIT_OK;
    }
    const struct command *c = find_command(argv[1]);
    if (c == NULL)
        return unknown_command(argv[1]);
    char option[] = "--help";
    char *arguments[] = {argv[1], option, NULL};
    return c->run(2, arguments);
}

static int run(int argc, char **argv)
{
    if (argc < 2) {
        print_help(stderr);
        return TW_EXIT_USAGE;
    }
    const char *first = argv[1];
    if (strcmp(first, "--version") == 0) {
        puts("tilewright " TW_VERSION);
        return TW_EXIT_OK;
    }
    if (strcmp(first, "help") == 0 || strcmp(first, "--help") == 0 || strcmp(first, "-h") == 0)
        return help(argc - 1, argv + 1);
    const struct command *c = find_command(first);
    return c != NULL ? c->run(argc - 1, argv + 1) : unknown_command(first);
}

/*
 * A closed standard stream would give its number to the next file that is opened, and text could land in it. Whatever
 * stands in its place here refuses to be used.
 */
static int occupy_standard_streams(void)
{
    for (int fd = 0; fd <= 2; fd++) {
        if (fcntl(fd, F_GETFD) >= 0)
            continue;
        int mode = fd == 0 ? O_WRONLY : O_RDONLY;
        if (open("/dev/null", mode) != fd)
            return -1;
    }
    return 0;
}

int main(int argc, char **argv)
{
    if (occupy_standard_streams() != 0)
        return TW_EXIT_FAILED;
    int code = run(argc, argv);
    return code != TW_EXIT_OK ? code : tw_flush_stdout();
}
