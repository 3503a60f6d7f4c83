#include "core/attention/cost.h"
#include "tests/catch.h"

using namespace headscope;

TEST_CASE("the cost of four tokens of width 8 with two heads") {
    const Dims d{.B = 1, .Tq = 4, .Tk = 4, .D = 8, .Dkv = 8, .H = 2, .Hkv = 2, .dk = 4, .dv = 4};
    const Cost cost = cost_of(d, false);
    CHECK(cost.parameters == 256);        // four 8 x 8 matrices
    CHECK(cost.projection_flops == 2048); // 4 matrices x 4 tokens x 64 multiply-adds
    CHECK(cost.attention_flops == 512);   // 2 products x 2 heads x 16 cells x 4 multiply-adds
    CHECK(cost.flops() == 2560);
    CHECK(cost.weights_bytes == 128);
    CHECK(cost.kv_cache_bytes == 256);
    CHECK(cost_of(d, true).parameters == 256 + 4 * 8);
    CHECK(cost_of(d, true).flops() == 2560);
}

TEST_CASE("the cost of grouped queries with their own source of keys") {
    const Dims d{.B = 3, .Tq = 2, .Tk = 5, .D = 10, .Dkv = 7, .H = 4, .Hkv = 2, .dk = 3, .dv = 6};
    const Cost cost = cost_of(d, true);
    CHECK(cost.parameters == 10 * 12 + 7 * 6 + 7 * 12 + 24 * 10 + 12 + 6 + 12 + 10);
    CHECK(cost.projection_flops == 2 * 3 * (2 * 120 + 5 * 42 + 5 * 84 + 2 * 240));
    CHECK(cost.attention_flops == 2 * 3 * 4 * 2 * 5 * (3 + 6));
    CHECK(cost.weights_bytes == 4 * 3 * 4 * 2 * 5);
    CHECK(cost.kv_cache_bytes == 4 * 3 * 5 * (6 + 12));
    CHECK(cost_of(d, true, true).kv_cache_bytes == 4 * 3 * 5 * 7);
}

TEST_CASE("what a layer of DeepSeek-V2 caches, beside other ways to cache as wide keys and values") {
    // Latent vectors of 512 numbers and a key of 64 that is rotated; keys of 128 + 64, values of 128.
    const Dims d{.Dkv = 576, .H = 128, .Hkv = 128, .dk = 192, .dv = 128};
    std::vector<std::pair<std::string, std::int64_t>> found;
    for (const CacheVariant& one : cache_variants_of_latent(d))
        found.emplace_back(one.text(), one.numbers);
    CHECK(found == std::vector<std::pair<std::string, std::int64_t>>{{"MHA, Hkv = 128", 40'960},
                                                                     {"GQA, Hkv = 8", 2'560},
                                                                     {"MQA, Hkv = 1", 320},
                                                                     {"MLA, r + dr = 576", 576}});
    CHECK(cache_variants_of_latent({.Dkv = 16, .H = 4, .Hkv = 4, .dk = 10, .dv = 5}).at(1).Hkv == 2);
    CHECK(cache_variants_of_latent({.Dkv = 16, .H = 3, .Hkv = 3, .dk = 10, .dv = 5}).size() == 3);
}
