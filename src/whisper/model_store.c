#include "whisper/model_store.h"

#include "whisper/download.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define HUB "https://huggingface.co/ggerganov/whisper.cpp/resolve/main"

const struct tw_published_model *tw_published_models(size_t *count)
{
    static const struct tw_published_model models[] = {
        {"tiny-q8_0", "c2085835d3f50733e2ff6e4b41ae8a2b8d8110461e18821b09a15c40c42d1cca", 43537433u},
        {"tiny.en-q8_0", "5bc2b3860aa151a4c6e7bb095e1fcce7cf12c7b020ca08dcec0c6d018bb7dd94", 43550795u},
        {"tiny", "be07e048e1e599ad46341c8d2a135645097a538221678b7acdd1b1919c6e1b21", 77691713u},
        {"tiny.en", "921e4cf8686fdd993dcd081a5da5b6c365bfde1162e72b08d75ac75289920b1f", 77704715u},
        {"base-q8_0", "c577b9a86e7e048a0b7eada054f4dd79a56bbfa911fbdacf900ac5b567cbb7d9", 81768585u},
        {"base.en-q8_0", "a4d4a0768075e13cfd7e19df3ae2dbc4a68d37d36a7dad45e8410c9a34f8c87e", 81781811u},
        {"base", "60ed5bc3dd14eea856493d334349b405782ddcaf0028d4b5df4088345fba2efe", 147951465u},
        {"base.en", "a03779c86df3323075f5e796cb2ce5029f00ec8869eee3fdfb897afe36c6d002", 147964211u},
        {"small-q8_0", "49c8fb02b65e6049d5fa6c04f81f53b867b5ec9540406812c643f177317f779f", 264464607u},
        {"small.en-q8_0", "67a179f608ea6114bd3fdb9060e762b588a3fb3bd00c4387971be4d177958067", 264477561u},
        {"small", "1be3a9b2063867b937e64e2ec7483364a79917e157fa98c5d94b5c1fffea987b", 487601967u},
        {"small.en", "c6138d6d58ecc8322097e0f987c32f1be8bb0a18532a3f88f734d1bbf9c41e5d", 487614201u},
        {"medium-q5_0", "19fea4b380c3a618ec4723c3eef2eb785ffba0d0538cf43f8f235e7b3b34220f", 539212467u},
        {"medium.en-q5_0", "76733e26ad8fe1c7a5bf7531a9d41917b2adc0f20f2e4f5531688a8c6cd88eb0", 539225533u},
        {"large-v3-turbo-q5_0", "394221709cd5ad1f40c46e6031ca61bce88931e6e088c188294c6d5a55ffa7e2", 574041195u},
        {"medium-q8_0", "42a1ffcbe4167d224232443396968db4d02d4e8e87e213d3ee2e03095dea6502", 823369779u},
        {"medium.en-q8_0", "43fa2cd084de5a04399a896a9a7a786064e221365c01700cea4666005218f11c", 823382461u},
        {"large-v3-turbo-q8_0", "317eb69c11673c9de1e1f0d459b253999804ec71ac4c23c17ecf5fbe24e259a1", 874188075u},
        {"large-v2-q5_0", "3a214837221e4530dbc1fe8d734f302af393eb30bd0ed046042ebf4baf70f6f2", 1080732091u},
        {"large-v3-q5_0", "d75795ecff3f83b5faa89d1900604ad8c780abd5739fae406de19f23ecd98ad1", 1081140203u},
        {"medium", "6c14d5adee5f86394037b4e4e8b59f1673b6cee10e3cf0b11bbdbee79c156208", 1533763059u},
        {"medium.en", "cc37e93478338ec7700281a7ac30a10128929eb8f427dda2e865faa8f6da4356", 1533774781u},
        {"large-v3-turbo", "1fc70f774d38eb169993ac391eea357ef47c88757ef72ee5943879b7e8e2bc69", 1624555275u},
        {"large-v2-q8_0", "fef54e6d898246a65c8285bfa83bd1807e27fadf54d5d4e81754c47634737e8c", 1656129691u},
        {"large-v1", "7d99f41a10525d0206bddadd86760181fa920438b6b33237e3118ff6c83bb53d", 3094623691u},
        {"large-v2", "9a423fe4d40c82774b6af34115b8b935f34152246eb19e80e376071d3f999487", 3094623691u},
        {"large-v3", "64d182b440b98d5203c4f9bd541544d84c605196c4f7b845dfa11fb23594d1e2", 3095033483u},
    };
    *count = sizeof models / sizeof models[0];
    return models;
}

static const struct tw_published_model *find_published(const char *name)
{
    size_t count;
    const struct tw_published_model *models = tw_published_models(&count);
    for (size_t i = 0; i < count; i++)
        if (strcmp(models[i].name, name) == 0)
            return &models[i];
    return NULL;
}

/* A variable that is set and not empty, or NULL. */
static const char *setting(const char *variable)
{
    const char *value = getenv(variable);
    return value != NULL && value[0] != '\0' ? value : NULL;
}

int tw_model_cache_dir(char *dst, size_t size, struct tw_error *err)
{
    const char *own = setting("TILEWRIGHT_CACHE"), *caches = setting("XDG_CACHE_HOME"), *home = setting("HOME");
    if (caches != NULL && caches[0] != '/')
        caches = NULL; /* the XDG rules: a relative path there is to be ignored */
    int length;
    if (own != NULL)
        length = snprintf(dst, size, "%s/models", own);
    else if (caches != NULL)
        length = snprintf(dst, size, "%s/tilewright/models", caches);
    else if (home != NULL)
        length = snprintf(dst, size, "%s/.cache/tilewright/models", home);
    else
        return tw_fail(err, TW_E_NOT_FOUND, "no folder for models is known; set HOME or TILEWRIGHT_CACHE");
    if (length < 0 || (size_t)length >= size)
        return tw_fail(err, TW_E_LIMIT,
                       "the path of the folder for models is too long; set TILEWRIGHT_CACHE to a shorter one");
    return TW_OK;
}

/* A file of another size than the published one is what an accident left, not the model. */
static int is_whole(const char *path, const struct tw_published_model *model)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && (model == NULL || (uint64_t)st.st_size == model->bytes);
}

int tw_model_cached(const char *name, char *path, size_t size, struct tw_error *err)
{
    int result = tw_model_cache_dir(path, size, err);
    if (result < 0)
        return result;
    size_t used = strlen(path);
    int length = snprintf(path + used, size - used, "/ggml-%s.bin", name);
    if (length < 0 || (size_t)length >= size - used)
        return tw_fail(err, TW_E_LIMIT, "the path of model '%.64s' in the cache is too long", name);
    return is_whole(path, find_published(name));
}

static int looks_like_a_path(const char *name)
{
    return strchr(name, '/') != NULL;
}

int tw_model_resolve(const char *name, char *path, size_t size, struct tw_error *err)
{
    struct stat st;
    if (stat(name, &st) == 0) {
        int length = snprintf(path, size, "%s", name);
        if (length < 0 || (size_t)length >= size)
            return tw_fail(err, TW_E_LIMIT, "the path '%.64s...' is too long", name);
        return TW_OK;
    }
    if (name[0] == '\0' || looks_like_a_path(name))
        return tw_fail_errno(err, errno == ENOENT || errno == ENOTDIR ? TW_E_NOT_FOUND : TW_E_IO, errno,
                             "cannot open the model '%s'", name);
    int found = tw_model_cached(name, path, size, err);
    if (found != 0)
        return found < 0 ? found : TW_OK;
    if (find_published(name) != NULL)
        return tw_fail(err, TW_E_NOT_FOUND, "model '%s' is not here yet; get it by `tilewright model get %s`", name,
                       name);
    return tw_fail(err, TW_E_NOT_FOUND,
                   "'%s' is neither a file nor a folder nor the name of a published model; "
                   "`tilewright model list` shows those",
                   name);
}

/* Makes the folder that holds the file at path, and those above it. */
static int make_folders(const char *path, struct tw_error *err)
{
    char folder[4096];
    for (const char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        size_t length = (size_t)(slash - path);
        if (length >= sizeof folder)
            return tw_fail(err, TW_E_LIMIT, "the path '%.64s...' is too long", path);
        memcpy(folder, path, length);
        folder[length] = '\0';
        if (mkdir(folder, 0777) != 0 && errno != EEXIST)
            return tw_fail_errno(err, TW_E_IO, errno, "cannot make the folder '%s'", folder);
    }
    return TW_OK;
}

int tw_model_get(const char *name, int (*progress)(void *arg, double done, double total), void *arg,
                 struct tw_error *err)
{
    const struct tw_published_model *model = find_published(name);
    if (model == NULL)
        return tw_fail(err, TW_E_NOT_FOUND, "no model '%s' is published; `tilewright model list` shows those that are",
                       name);
    char path[4096], url[4096];
    int result = tw_model_cached(name, path, sizeof path, err);
    if (result != 0)
        return result < 0 ? result : TW_OK;
    const char *hub = setting("TILEWRIGHT_HUB");
    int length = snprintf(url, sizeof url, "%s/ggml-%s.bin", hub != NULL ? hub : HUB, name);
    if (length < 0 || (size_t)length >= sizeof url)
        return tw_fail(err, TW_E_LIMIT, "the address in TILEWRIGHT_HUB is too long");
    result = make_folders(path, err);
    if (result < 0)
        return result;
    struct tw_download d = {.url = url,
                            .plain = hub != NULL,
                            .sha256 = model->sha256,
                            .bytes = model->bytes,
                            .progress = progress,
                            .arg = arg};
    return tw_download_file(&d, path, err);
}
