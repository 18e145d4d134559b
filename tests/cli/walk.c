#include "cli/walk.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <cmocka.h>

#define PATH_BYTES 4096
#define DEPTH_MAX 32

static void walk(const char *folder, unsigned depth, visit_file *visit, void *arg)
{
    struct dirent **entries;
    int n = scandir(folder, &entries, NULL, alphasort);
    if (n < 0)
        fail_msg("cannot read the folder %s", folder);
    for (int i = 0; i < n; i++) {
        char path[PATH_BYTES];
        struct stat st;
        int length = snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        int is_real = entries[i]->d_name[0] != '.' && length > 0 && length < (int)sizeof path && lstat(path, &st) == 0;
        if (is_real && S_ISDIR(st.st_mode) && depth < DEPTH_MAX)
            walk(path, depth + 1, visit, arg);
        else if (is_real && S_ISREG(st.st_mode))
            visit(path, arg);
        free(entries[i]);
    }
    free(entries);
}

void walk_folder(const char *folder, visit_file *visit, void *arg)
{
    walk(folder, 0, visit, arg);
}
