/* The tilewright command: what its subcommands share. Text results go to stdout, everything else to stderr. */
#ifndef TW_CLI_CLI_H
#define TW_CLI_CLI_H

enum tw_exit {
    TW_EXIT_OK = 0,
    TW_EXIT_FAILED = 1,  /* some of the work could not be done; a sentence on stderr says what */
    TW_EXIT_USAGE = 2,   /* the command line makes no sense */
    TW_EXIT_SIGNAL = 128 /* plus the signal's number: 130 after an interrupt */
};

/*
 * Subcommands: argv[0] is the subcommand's name, argv[argc] is NULL. Each answers --help on stdout (at most 24 lines of
 * 80 columns, with an example) and returns an exit code. What is on stdout need not be flushed; main does it and
 * reports a failure.
 */
int tw_cmd_transcribe(int argc, char **argv);
int tw_cmd_demo(int argc, char **argv);
int tw_cmd_bench(int argc, char **argv);
int tw_cmd_model(int argc, char **argv);
int tw_cmd_as(int argc, char **argv);
int tw_cmd_dis(int argc, char **argv);
int tw_cmd_image(int argc, char **argv);
int tw_cmd_emu(int argc, char **argv);
int tw_cmd_vectors(int argc, char **argv);
int tw_cmd_run(int argc, char **argv);
int tw_cmd_gemm(int argc, char **argv);
int tw_cmd_overlay(int argc, char **argv);
int tw_cmd_info(int argc, char **argv);
int tw_cmd_doctor(int argc, char **argv);

/* Says on stderr what is wrong with a command line and where its help is; returns TW_EXIT_USAGE. */
int tw_usage_error(const char *command, const char *sentence);

/*
 * Flushes stdout. Returns 0, or TW_EXIT_FAILED after a sentence on stderr when anything written to it so far was lost
 * (a full disk, a closed descriptor).
 */
int tw_flush_stdout(void);

#endif
