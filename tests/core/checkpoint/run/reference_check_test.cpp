#include "core/checkpoint/checks/reference_check.h"

#include "tests/catch.h"
#include "tests/core/checkpoint/run/model_case.h"
#include "tests/support.h"
#include "tests/test_data.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace headscope;
using namespace headscope::checkpoint;
using namespace headscope::test;
using Catch::Contains;

namespace {

const std::string gpt2 = test_data("/models/gpt2_tiny");

std::vector<ReferenceRow> check(const std::string& folder, const format::Safetensors& reference,
                                ReferenceGaps* gaps = nullptr) {
    Progress progress;
    return check_against(Model::open(folder), reference, nullptr, progress, gaps);
}

/// Returns the tensors that a Python script would write for gpt2_tiny: one tensor for each layer. Rows of
/// padding have arbitrary numbers.
std::map<std::string, std::shared_ptr<Tensor>> reference_tensors(const ModelCase& one) {
    std::map<std::string, std::shared_ptr<Tensor>> tensors;
    const auto put = [&](const std::string& name, const Shape& shape, const float* from) {
        auto tensor = std::make_shared<Tensor>(
            shape, std::span<const float>(from, static_cast<std::size_t>(shape.count())));
        const std::int64_t width = shape.back(0), rows = shape.count() / width;
        for (std::int64_t r = 0; r < rows; ++r)
            if (!one.real(r / (rows / one.B), r % one.T))
                std::fill_n(tensor->data() + r * width, width, NAN);
        tensors[name] = tensor;
    };
    const Shape heads{one.B, one.H, one.T, one.T}, states{one.B, one.T, one.D};
    for (std::int64_t l = 0; l < one.L; ++l)
        put("attentions." + std::to_string(l), heads, one.attentions.data() + l * heads.count());
    for (std::int64_t l = 0; l <= one.L; ++l)
        put("hidden_states." + std::to_string(l), states, one.hidden.data() + l * states.count());
    put("logits", {one.B, one.T, one.vocab}, one.logits.data());
    return tensors;
}

format::Safetensors file_of(const ModelCase& one,
                            const std::map<std::string, std::shared_ptr<Tensor>>& tensors) {
    format::SafetensorsWriter writer;
    writer.add_integers("input_ids", {one.B, one.T}, one.inputs.ids);
    writer.add_integers(
        "attention_mask", {one.B, one.T},
        std::vector<std::int64_t>(one.inputs.attention_mask.begin(), one.inputs.attention_mask.end()));
    for (const auto& [name, tensor] : tensors)
        writer.add(name, tensor);
    return format::Safetensors::from_bytes(writer.bytes(), "reference");
}

} // namespace

TEST_CASE("every golden model agrees with its reference, in every tensor") {
    for (const std::string& name : model_case_names()) {
        INFO(name);
        const std::string folder = test_data("/models/") + name;
        const format::Safetensors reference = format::Safetensors::open(folder + "/expected.safetensors");
        const auto rows = check(folder, reference);
        const Model model = Model::open(folder);
        const Architecture& a = model.architecture();
        const std::vector<std::int64_t> attending = attention_layers(a);
        const auto L = static_cast<std::size_t>(a.layers), attentions = attending.size();
        std::size_t routers = 0;
        for (std::int64_t l = 0; l < a.layers && reference.find("expect.router_logits") != nullptr; ++l)
            routers += a.has_experts(l) ? 1 : 0;
        // The layers with attention, one hidden state more than layers, routers of mixtures, logits.
        REQUIRE(rows.size() == attentions + L + 2 + routers);
        CHECK(std::ranges::count(rows, "router logits", &ReferenceRow::kind) ==
              static_cast<std::ptrdiff_t>(routers));
        for (const ReferenceRow& row : rows) {
            INFO(row.kind << " " << row.layer.value_or(-1) << " " << row.difference);
            CHECK(row.agrees());
        }
        CHECK(rows.back().difference > 0);
        const ReferenceRow &attention = rows[attentions - 1], &hidden = rows[attentions + 2];
        CHECK((attention.kind == "attentions" && attention.layer == attending.back() &&
               attention.allowed < 1.2e-5));
        CHECK((hidden.kind == "hidden" && hidden.layer == 2 && hidden.allowed < 7e-5));
        CHECK((rows.back().kind == "logits" && !rows.back().layer && rows.back().allowed < 2.5e-4));
    }
}

TEST_CASE("folders that are easily misread agree with the numbers of Hugging Face's own code") {
    // Embedding models that read both ways, heads that differ from the word table they are said to share, and
    // a Falcon whose ALiBi replaces rotation (by the sdpa implementation: the eager one of 5.5 adds ALiBi
    // twice).
    for (const char* name : {"bidirectional_gemma3", "phi3_not_causal", "mt5_saved_by_v5",
                             "tied_but_two_heads_gpt2", "falcon_alibi"}) {
        INFO(name);
        const std::string folder = test_data("/files/") + name;
        ReferenceGaps gaps;
        const auto rows = check(folder, format::Safetensors::open(folder + "/reference.safetensors"), &gaps);
        CHECK(!rows.empty());
        for (const ReferenceRow& row : rows) {
            INFO(row.kind << " " << row.layer.value_or(-1) << " " << row.difference);
            CHECK(row.agrees());
        }
        CHECK(gaps.missing_here.empty());
    }
    CHECK(!Model::open(test_data("/files/tied_but_two_heads_gpt2")).architecture().tied);
    CHECK(Model::open(gpt2).architecture().tied);
}

TEST_CASE("a reference of single layers is compared, rows of padding left out, and a moved number found") {
    const ModelCase one = load_model_case("gpt2_tiny");
    const auto tensors = reference_tensors(one);
    const auto rows = check(gpt2, file_of(one, tensors));
    REQUIRE(rows.size() == 6);
    CHECK(std::ranges::all_of(rows, &ReferenceRow::agrees));
    for (const auto& [name, at, by] :
         {std::tuple("attentions.1", 1, 3e-5F), std::tuple("hidden_states.0", 3, 1e-4F),
          std::tuple("logits", 7, 4e-4F), std::tuple("logits", 8, NAN)}) {
        INFO(name);
        auto moved = tensors;
        moved[name] = std::make_shared<Tensor>(tensors.at(name)->shape(), tensors.at(name)->values());
        moved[name]->data()[at] += by;
        const auto found = check(gpt2, file_of(one, moved));
        const auto wrong =
            std::ranges::count_if(found, [](const ReferenceRow& row) { return !row.agrees(); });
        CHECK(wrong == 1);
        const auto row = std::ranges::find_if_not(found, &ReferenceRow::agrees);
        REQUIRE(row != found.end());
        CHECK(std::string(name).starts_with(row->kind));
        if (std::isnan(by))
            CHECK(std::isinf(row->difference));
        else
            CHECK(row->difference == Approx(by).epsilon(0.1));
    }
    // Another model.
    const auto other =
        check(test_data("/models/llama_tiny_untied"),
              format::Safetensors::open(test_data("/models/llama_tiny_untied/expected.safetensors")));
    CHECK(other.size() == 6);
}

TEST_CASE("what a comparison leaves out is named, on either side") {
    const ModelCase one = load_model_case("gpt2_tiny");
    auto tensors = reference_tensors(one);
    ReferenceGaps gaps;
    check(gpt2, file_of(one, tensors), &gaps);
    CHECK((gaps.missing_here.empty() && gaps.not_compared.empty() && gaps.only_here.empty()));

    tensors["attentions.2"] = tensors.at("attentions.1"); // gpt2_tiny has two layers
    tensors["router.0"] = tensors.at("attentions.1");
    tensors.erase("hidden_states.2");
    const auto rows = check(gpt2, file_of(one, tensors), &gaps);
    CHECK(std::ranges::all_of(rows, &ReferenceRow::agrees));
    CHECK(gaps.missing_here == std::vector<std::string>{"attentions.2"});
    CHECK(gaps.not_compared == std::vector<std::string>{"router.0"});
    CHECK(gaps.only_here == std::vector<std::string>{"hidden"});
}

TEST_CASE("a reference that does not fit is named") {
    const ModelCase one = load_model_case("gpt2_tiny");
    const auto fault = [&](std::map<std::string, std::shared_ptr<Tensor>> tensors) {
        return input_error([&] { check(gpt2, file_of(one, tensors)); });
    };
    CHECK_THAT(fault({}), Contains("attentions.0") && Contains("checkpoints.md"));
    CHECK_THAT(fault({{"logits", std::make_shared<Tensor>(Shape{1, 2}, 0.0F)}}),
               Contains("tensor logits has shape (1, 2)") && Contains("(2, 12, 200)"));
    CHECK_THAT(fault({{"expect.attentions", std::make_shared<Tensor>(Shape{2, 2}, 0.0F)}}),
               Contains("(2, 2, 4, 12, 12)"));
    format::SafetensorsWriter without;
    without.add("logits", std::make_shared<Tensor>(Shape{1, 1, 200}, 0.0F));
    CHECK_THAT(
        input_error([&] { check(gpt2, format::Safetensors::from_bytes(without.bytes(), "reference")); }),
        Contains("input_ids"));
}
