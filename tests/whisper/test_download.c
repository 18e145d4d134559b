/* Downloads from a server of our own on the loopback: good ones, and every way to be let down. */
#include "base/random.h"
#include "base/sha256.h"
#include "whisper/download.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#define BODY_SIZE 300000

struct scene {
    char folder[64];
    char path[80];
    unsigned char *body;
    char sha256[65];
    const char *head; /* what the server answers: this */
    size_t send;      /* and so much of the body */
    int listener;
    char url[64];
    pthread_t server;
    int calls; /* of the progress function */
    int cancel_at;
    double done, total;
};

static int send_all(int fd, const void *data, size_t size)
{
    const char *p = data;
    while (size > 0) {
        ssize_t n = send(fd, p, size, MSG_NOSIGNAL);
        if (n <= 0)
            return -1;
        p += n;
        size -= (size_t)n;
    }
    return 0;
}

/* Answers every connection in the same way until the listener is shut down. */
static void *serve(void *arg)
{
    struct scene *s = arg;
    int fd;
    while ((fd = accept(s->listener, NULL, NULL)) >= 0) {
        char request[2048];
        if (recv(fd, request, sizeof request, 0) > 0 && send_all(fd, s->head, strlen(s->head)) == 0)
            send_all(fd, s->body, s->send);
        shutdown(fd, SHUT_WR);
        while (recv(fd, request, sizeof request, 0) > 0)
            ;
        close(fd);
    }
    return NULL;
}

static int listen_on_loopback(unsigned *port)
{
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, size) != 0 || listen(fd, 4) != 0 ||
        getsockname(fd, (struct sockaddr *)&address, &size) != 0)
        return -1;
    *port = ntohs(address.sin_port);
    return fd;
}

static int set_up(void **state)
{
    struct scene *s = calloc(1, sizeof *s);
    unsigned port;
    if (s == NULL || (s->body = malloc(BODY_SIZE)) == NULL || (s->listener = listen_on_loopback(&port)) < 0)
        return -1;
    strcpy(s->folder, "/tmp/tw-download-XXXXXX");
    if (mkdtemp(s->folder) == NULL)
        return -1;
    snprintf(s->path, sizeof s->path, "%s/model", s->folder);
    snprintf(s->url, sizeof s->url, "http://127.0.0.1:%u/model", port);
    struct tw_random r = {20};
    for (size_t i = 0; i < BODY_SIZE; i++)
        s->body[i] = (unsigned char)tw_random_u64(&r);
    struct tw_sha256 h;
    tw_sha256_start(&h);
    tw_sha256_add(&h, s->body, BODY_SIZE);
    tw_sha256_finish(&h, s->sha256);
    s->head = "HTTP/1.1 200 OK\r\nContent-Length: 300000\r\nConnection: close\r\n\r\n";
    s->send = BODY_SIZE;
    *state = s;
    return pthread_create(&s->server, NULL, serve, s);
}

static int tear_down(void **state)
{
    struct scene *s = *state;
    shutdown(s->listener, SHUT_RDWR);
    pthread_join(s->server, NULL);
    close(s->listener);
    unlink(s->path);
    int failed = rmdir(s->folder); /* fails when anything else was left */
    free(s->body);
    free(s);
    return failed;
}

static int watch(void *arg, double done, double total)
{
    struct scene *s = arg;
    s->calls++;
    s->done = done;
    s->total = total;
    return s->cancel_at > 0 && s->calls >= s->cancel_at;
}

static int fetch(struct scene *s, struct tw_error *err)
{
    struct tw_download d = {
        .url = s->url, .plain = 1, .sha256 = s->sha256, .bytes = BODY_SIZE, .progress = watch, .arg = s};
    return tw_download_file(&d, s->path, err);
}

static void assert_nothing_left(const struct scene *s)
{
    DIR *d = opendir(s->folder);
    assert_non_null(d);
    struct dirent *e;
    while ((e = readdir(d)) != NULL)
        assert_true(e->d_name[0] == '.' && (e->d_name[1] == '\0' || e->d_name[1] == '.'));
    closedir(d);
}

static void assert_fails(struct scene *s, int code, const char *words)
{
    struct tw_error err = {0};
    int found = fetch(s, &err);
    if (found != code)
        print_message("%s\n", err.text);
    assert_int_equal(found, code);
    assert_int_equal(err.code, code);
    assert_non_null(strstr(err.text, s->url));
    if (strstr(err.text, words) == NULL)
        fail_msg("'%s' does not say '%s'", err.text, words);
    assert_nothing_left(s);
}

static void assert_arrived(const struct scene *s)
{
    unsigned char *found = malloc(BODY_SIZE + 1);
    FILE *f = fopen(s->path, "rb");
    assert_non_null(found);
    assert_non_null(f);
    assert_int_equal(fread(found, 1, BODY_SIZE + 1, f), BODY_SIZE);
    fclose(f);
    assert_memory_equal(found, s->body, BODY_SIZE);
    free(found);
}

static void a_good_download_arrives(void **state)
{
    struct scene *s = *state;
    struct tw_error err = {0};
    assert_int_equal(fetch(s, &err), TW_OK);
    assert_arrived(s);
    assert_true(s->calls > 0);
    assert_true(s->done == BODY_SIZE && s->total == BODY_SIZE);
}

static void a_local_file_arrives(void **state)
{
    struct scene *s = *state;
    char source[] = "/tmp/tw-download-source-XXXXXX";
    int fd = mkstemp(source);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, s->body, BODY_SIZE), BODY_SIZE);
    close(fd);
    snprintf(s->url, sizeof s->url, "file://%s", source);
    int result = fetch(s, NULL);
    unlink(source);
    assert_int_equal(result, TW_OK);
    assert_arrived(s);
    unlink(s->path);
    assert_fails(s, TW_E_NOT_FOUND, "no file");
}

static void other_bytes_are_refused(void **state)
{
    struct scene *s = *state;
    s->body[BODY_SIZE / 2] ^= 1;
    assert_fails(s, TW_E_FORMAT, s->sha256);
}

static void another_size_is_refused(void **state)
{
    struct scene *s = *state;
    s->head = "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"; /* no size given: the end decides */
    s->send = BODY_SIZE - 1;
    assert_fails(s, TW_E_FORMAT, "299999 bytes instead of 300000");
    s->head = "HTTP/1.1 200 OK\r\nContent-Length: 600000\r\nConnection: close\r\n\r\n0123456789";
    s->send = BODY_SIZE;
    assert_fails(s, TW_E_FORMAT, "longer than the 300000 bytes");
}

static void a_broken_transfer_is_a_network_failure(void **state)
{
    struct scene *s = *state;
    s->send = 1000;
    assert_fails(s, TW_E_NETWORK, "cannot download");
}

static void a_missing_file_is_said_to_be_missing(void **state)
{
    struct scene *s = *state;
    s->head = "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    s->send = 0;
    assert_fails(s, TW_E_NOT_FOUND, "404");
    s->head = "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    assert_fails(s, TW_E_NETWORK, "503");
}

static void nobody_there_is_a_network_failure(void **state)
{
    struct scene *s = *state;
    unsigned port;
    int fd = listen_on_loopback(&port); /* a port of which it is certain that nobody listens once it is closed */
    assert_true(fd >= 0);
    close(fd);
    snprintf(s->url, sizeof s->url, "http://127.0.0.1:%u/model", port);
    assert_fails(s, TW_E_NETWORK, "check the network");
}

static void the_caller_can_stop_it(void **state)
{
    struct scene *s = *state;
    s->cancel_at = 1;
    assert_fails(s, TW_E_CANCELLED, "interrupted");
}

static void a_server_cannot_point_at_local_files(void **state)
{
    struct scene *s = *state;
    s->head = "HTTP/1.1 302 Found\r\nLocation: file:///etc/hostname\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    s->send = 0;
    assert_fails(s, TW_E_NETWORK, "cannot download");
}

static void a_redirect_without_end_ends(void **state)
{
    struct scene *s = *state;
    char head[256];
    snprintf(head, sizeof head, "HTTP/1.1 302 Found\r\nLocation: %s\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
             s->url);
    s->head = head;
    s->send = 0;
    assert_fails(s, TW_E_NETWORK, "redirects");
}

static void without_leave_only_https_is_taken(void **state)
{
    struct scene *s = *state;
    struct tw_download d = {.url = s->url, .sha256 = s->sha256, .bytes = BODY_SIZE};
    assert_int_equal(tw_download_file(&d, s->path, NULL), TW_E_NETWORK);
    assert_nothing_left(s);
}

static void a_full_disk_is_said_to_be_full(void **state)
{
    struct scene *s = *state;
    if (mount("tmpfs", s->folder, "tmpfs", 0, "size=65536") != 0) {
        print_message("SKIPPED: cannot mount a small file system (%s); run as root to test a full disk\n",
                      strerror(errno));
        skip();
    }
    struct tw_error err = {0};
    int result = fetch(s, &err);
    assert_nothing_left(s);
    assert_int_equal(umount(s->folder), 0);
    assert_int_equal(result, TW_E_IO);
    assert_non_null(strstr(err.text, "No space left"));
    assert_non_null(strstr(err.text, s->path));
}

#define WITH_SERVER(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_SERVER(a_good_download_arrives),
        WITH_SERVER(a_local_file_arrives),
        WITH_SERVER(other_bytes_are_refused),
        WITH_SERVER(another_size_is_refused),
        WITH_SERVER(a_broken_transfer_is_a_network_failure),
        WITH_SERVER(a_missing_file_is_said_to_be_missing),
        WITH_SERVER(nobody_there_is_a_network_failure),
        WITH_SERVER(the_caller_can_stop_it),
        WITH_SERVER(a_server_cannot_point_at_local_files),
        WITH_SERVER(a_redirect_without_end_ends),
        WITH_SERVER(without_leave_only_https_is_taken),
        WITH_SERVER(a_full_disk_is_said_to_be_full),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
