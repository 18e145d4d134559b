/* All files below a folder. */
#ifndef TESTS_CLI_WALK_H
#define TESTS_CLI_WALK_H

typedef void visit_file(const char *path, void *arg);

/* Calls visit for every file below a folder, in the order of names; hidden ones and links are left out. */
void walk_folder(const char *folder, visit_file *visit, void *arg);

#endif
