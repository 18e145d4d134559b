#include "whisper/download.h"

#include "base/new_file.h"
#include "base/sha256.h"

#include <curl/curl.h>
#include <string.h>

#define CONNECT_SECONDS 20L
#define STALL_SECONDS 60L /* given up after so long without a byte */

struct transfer {
    const struct tw_download *what;
    struct tw_new_file file;
    struct tw_sha256 digest;
    uint64_t done;
    struct tw_error failure; /* of writing, or of cancelling; code 0 when the network is to blame */
};

static size_t take(char *data, size_t one, size_t size, void *arg)
{
    struct transfer *t = arg;
    size *= one;
    if (size > t->what->bytes - t->done) {
        tw_fail(&t->failure, TW_E_FORMAT, "%s is longer than the %llu bytes it should have; nothing was kept",
                t->what->url, (unsigned long long)t->what->bytes);
        return 0;
    }
    if (tw_new_file_write(&t->file, data, size, &t->failure) < 0)
        return 0;
    tw_sha256_add(&t->digest, data, size);
    t->done += size;
    return size;
}

static int report(void *arg, curl_off_t total, curl_off_t done, curl_off_t up_total, curl_off_t up_done)
{
    (void)total, (void)done, (void)up_total, (void)up_done;
    struct transfer *t = arg;
    if (t->what->progress == NULL || t->what->progress(t->what->arg, (double)t->done, (double)t->what->bytes) == 0)
        return 0;
    tw_fail(&t->failure, TW_E_CANCELLED, "the download of %s was interrupted; nothing was kept", t->what->url);
    return 1;
}

static CURLcode set_options(CURL *curl, struct transfer *t, char *reason)
{
    const char *protocols = t->what->plain ? "https,http,file" : "https";
    const char *redirects = t->what->plain ? "https,http" : "https"; /* a server must not point us at local files */
    CURLcode failed = CURLE_OK;
#define SET(option, value) (failed = failed != CURLE_OK ? failed : curl_easy_setopt(curl, option, value))
    SET(CURLOPT_URL, t->what->url);
    SET(CURLOPT_PROTOCOLS_STR, protocols);
    SET(CURLOPT_REDIR_PROTOCOLS_STR, redirects);
    SET(CURLOPT_FOLLOWLOCATION, 1L);
    SET(CURLOPT_MAXREDIRS, 10L);
    SET(CURLOPT_FAILONERROR, 1L);
    SET(CURLOPT_NOSIGNAL, 1L);
    SET(CURLOPT_CONNECTTIMEOUT, CONNECT_SECONDS);
    SET(CURLOPT_LOW_SPEED_LIMIT, 1L);
    SET(CURLOPT_LOW_SPEED_TIME, STALL_SECONDS);
    SET(CURLOPT_USERAGENT, "tilewright/" TW_VERSION);
    SET(CURLOPT_ERRORBUFFER, reason);
    SET(CURLOPT_WRITEFUNCTION, take);
    SET(CURLOPT_WRITEDATA, t);
    SET(CURLOPT_NOPROGRESS, 0L);
    SET(CURLOPT_XFERINFOFUNCTION, report);
    SET(CURLOPT_XFERINFODATA, t);
#undef SET
    return failed;
}

/* The sentence for what went wrong between us and the server. */
static int network_failure(CURL *curl, CURLcode code, const struct transfer *t, const char *reason,
                           struct tw_error *err)
{
    if (t->failure.code != 0) {
        if (err != NULL)
            *err = t->failure;
        return t->failure.code;
    }
    long status = 0;
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    if (code == CURLE_HTTP_RETURNED_ERROR && (status == 404 || status == 410))
        return tw_fail(err, TW_E_NOT_FOUND, "the server has no %s (status %ld)", t->what->url, status);
    if (code == CURLE_FILE_COULDNT_READ_FILE)
        return tw_fail(err, TW_E_NOT_FOUND, "there is no file %s", t->what->url);
    if (code == CURLE_OUT_OF_MEMORY)
        return tw_fail(err, TW_E_MEMORY, "no memory to download %s", t->what->url);
    return tw_fail(err, TW_E_NETWORK, "cannot download %s: %s; check the network and try again", t->what->url,
                   reason[0] != '\0' ? reason : curl_easy_strerror(code));
}

static int check(struct transfer *t, struct tw_error *err)
{
    char found[65];
    tw_sha256_finish(&t->digest, found);
    if (t->done != t->what->bytes)
        return tw_fail(err, TW_E_FORMAT, "%s has %llu bytes instead of %llu; nothing was kept", t->what->url,
                       (unsigned long long)t->done, (unsigned long long)t->what->bytes);
    if (strcmp(found, t->what->sha256) != 0)
        return tw_fail(err, TW_E_FORMAT, "%s is not the published file (its SHA-256 is %s, not %s); nothing was kept",
                       t->what->url, found, t->what->sha256);
    return TW_OK;
}

static int transfer(CURL *curl, struct transfer *t, struct tw_error *err)
{
    char reason[CURL_ERROR_SIZE] = "";
    CURLcode code = set_options(curl, t, reason);
    if (code == CURLE_OK)
        code = curl_easy_perform(curl);
    if (code != CURLE_OK)
        return network_failure(curl, code, t, reason, err);
    return check(t, err);
}

int tw_download_file(const struct tw_download *d, const char *path, struct tw_error *err)
{
    struct transfer t = {.what = d};
    tw_sha256_start(&t.digest);
    int result = tw_new_file_open(path, &t.file, err);
    if (result < 0)
        return result;
    CURL *curl = curl_easy_init();
    result = curl != NULL ? transfer(curl, &t, err) : tw_fail(err, TW_E_MEMORY, "no memory to download %s", d->url);
    curl_easy_cleanup(curl);
    if (result < 0) {
        tw_new_file_abandon(&t.file);
        return result;
    }
    return tw_new_file_finish(&t.file, err);
}
