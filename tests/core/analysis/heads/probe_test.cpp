#include "core/analysis/heads/copying.h"
#include "core/analysis/heads/probe.h"
#include "core/base/error.h"
#include "core/checkpoint/files/packaged_models.h"
#include "tests/catch.h"
#include "tests/test_data.h"

#include <algorithm>

using namespace headscope;
using namespace headscope::analysis;
using Catch::Contains;

namespace {

checkpoint::TextModelPtr golden(const std::string& name) {
    return checkpoint::open_text_model(test_data("/models/") + name);
}

} // namespace

TEST_CASE("a probe is what the tokenizer puts first, then random tokens said twice", "[probe]") {
    const checkpoint::TextModelPtr pocket = checkpoint::open_text_model(checkpoint::model_folder("pocket"));
    const auto texts = probe_texts(*pocket, {.length = 30, .batch = 3, .seed = 1});
    REQUIRE(texts.size() == 3);
    CHECK(texts[0] != texts[1]);
    for (const std::vector<std::int64_t>& text : texts) {
        REQUIRE(text.size() == 61);
        CHECK(text.front() == 0); // <s>
        CHECK(std::equal(text.begin() + 1, text.begin() + 31, text.begin() + 31));
        CHECK(std::ranges::all_of(text.begin() + 1, text.end(), [](std::int64_t id) { return id > 1; }));
    }
    CHECK(probe_texts(*pocket, {.length = 30, .batch = 3, .seed = 1}) == texts);
    CHECK(probe_texts(*pocket, {.length = 30, .batch = 3, .seed = 2}) != texts);
    // Without a tokenizer no token is put first, and the token that ends a text is left out.
    const auto plain = probe_texts(*golden("gpt2_tiny"), {.length = 32, .batch = 40});
    for (const std::vector<std::int64_t>& text : plain) {
        CHECK(text.size() == 64);
        CHECK(std::ranges::find(text, 199) == text.end());
    }
}

TEST_CASE("a probe that a model cannot read is refused", "[probe]") {
    const checkpoint::TextModelPtr tiny = golden("gpt2_tiny");
    CHECK_THROWS_WITH(probe_texts(*tiny, {.length = 33}), Contains("64 tokens") && Contains("at most 32"));
    CHECK_THROWS_WITH(probe_texts(*tiny, {.length = 0}), Contains("is empty"));
    CHECK_THROWS_WITH(probe_texts(*tiny, {.batch = -1}), Contains("is empty"));
    CHECK_THROWS_WITH(probe_texts(*golden("t5_tiny"), {.length = 2}), Contains("reads two texts"));
}

TEST_CASE("a head whose output matrix is turned round copies as much as it held back", "[copying]") {
    const checkpoint::TextModelPtr tiny = golden("llama_tiny_untied");
    const auto plain = ov_copying(*tiny->model, {}, {1}, Progress());
    REQUIRE(plain.size() == 1);
    REQUIRE(plain[0].size() == 8);
    CHECK(plain[0][2] != 0.0);
    const TensorPtr W_O = tiny->model->layer(1)[TensorId::W_O];
    const auto turned = std::make_shared<Tensor>(W_O->shape(), W_O->values());
    std::ranges::transform(turned->values(), turned->data(), std::negate<>());
    checkpoint::ModelEdits edits;
    edits[1].tensors[TensorId::W_O] = turned;
    const auto back = ov_copying(*tiny->model, edits, {1}, Progress());
    for (std::size_t h = 0; h < 8; ++h)
        CHECK(back[0][h] == Approx(-plain[0][h]).margin(1e-6));
    Progress cancelled;
    cancelled.cancel();
    CHECK_THROWS_WITH(ov_copying(*tiny->model, {}, {0}, cancelled), Contains("cancelled"));
}
