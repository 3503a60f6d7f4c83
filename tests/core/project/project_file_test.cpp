#include "core/project/project_file.h"

#include "core/format/safetensors.h"
#include "core/project/same_bits.h"
#include "core/text/preset.h"
#include "tests/catch.h"
#include "tests/conformance/generate.h"
#include "tests/core/project/built.h"
#include "tests/support.h"
#include "tests/temporary_folder.h"

#include <bit>
#include <cmath>
#include <limits>
#include <rapidcheck/catch.h>

using namespace headscope;
using namespace headscope::project;
using Catch::Contains;
using headscope::test::built;
using headscope::test::TemporaryFolder;

namespace {

template<class Value>
Value any_of(const std::vector<Value>& values) {
    return *rc::gen::elementOf(values);
}

/// Finite bits of every kind: subnormal, -0, the largest.
float any_float() {
    const auto bits = *rc::gen::arbitrary<std::uint32_t>();
    const auto value = std::bit_cast<float>(bits);
    return std::isfinite(value) ? value : -0.0F;
}

TensorPtr any_tensor(const Shape& shape) {
    std::vector<float> values(static_cast<std::size_t>(shape.count()));
    for (float& value : values)
        value = any_float();
    return make_tensor(shape, values);
}

std::shared_ptr<const Problem> any_base() {
    Dims d;
    d.B = any_of<std::int64_t>({1, 2});
    d.Tq = *rc::gen::inRange<std::int64_t>(1, 4);
    d.Tk = *rc::gen::inRange<std::int64_t>(1, 4);
    d.D = *rc::gen::inRange<std::int64_t>(1, 5);
    d.Dkv = *rc::gen::inRange<std::int64_t>(1, 5);
    d.Hkv = any_of<std::int64_t>({1, 2});
    d.H = d.Hkv * any_of<std::int64_t>({1, 2});
    d.dk = d.dv = any_of<std::int64_t>({1, 2});
    Numbers numbers(*rc::gen::arbitrary<std::uint64_t>());
    Problem problem = generate(
        d, {.biases = any_of<bool>({false, true}), .gains = any_of<bool>({false, true})}, numbers, true);
    for (const int kind : *rc::gen::container<std::vector<int>>(2, rc::gen::inRange(0, rule_kinds)))
        problem.mask.push_back(generate_rule(kind, d, numbers));
    if (any_of<bool>({false, true})) {
        problem.weights.q_norm = any_tensor({d.dk});
        problem.weights.k_norm = any_tensor({d.dk});
        problem.norm_eps = any_of<float>({1e-6F, 0.25F});
    } else if (any_of<bool>({false, true})) {
        problem.weights.q_norm_all = any_tensor({d.H * d.dk});
        problem.weights.k_norm_all = any_tensor({d.Hkv * d.dk});
        problem.weights.sink = any_tensor({d.H});
        problem.qkv_limit = any_of<float>({8.0F, 0.25F});
    }
    if (any_of<bool>({false, true}))
        problem.weights.v_norm = any_tensor({d.dv});
    if (any_of<bool>({false, true}))
        problem.query_scale = any_tensor({d.Tq});
    for (std::int64_t t = 0; t < d.Tq && any_of<bool>({false, true}); ++t)
        problem.tokens = std::vector<std::string>(static_cast<std::size_t>(d.Tq), "größe \"\\\n");
    return std::make_shared<const Problem>(std::move(problem));
}

/// Returns a recipe with all choices of a user, including edits and head gains that are pending until another
/// shape fits.
Recipe any_recipe() {
    Recipe recipe;
    if (any_of<bool>({false, true})) {
        recipe.base = any_base();
    } else {
        const text::PresetInfo& preset = any_of(std::vector(text::presets().begin(), text::presets().end()));
        recipe.preset = preset.id;
        recipe.sentence = preset.sentence;
        if (any_of<bool>({false, true}))
            recipe.kv_sentence = preset.kv_sentence;
        recipe.mask = any_of<MaskChoice>(
            {MaskChoice::none, MaskChoice::causal, MaskChoice::causal_window, MaskChoice::symmetric_window});
        recipe.H = any_of<std::int64_t>({0, 1, 2});
        recipe.identity_W_O = any_of<bool>({false, true});
    }
    recipe.Hkv = any_of<std::int64_t>({0, 1});
    recipe.seed = *rc::gen::arbitrary<std::uint64_t>();
    recipe.temperature = any_of<float>({1.0F, 0.1F, 1e-40F, 3e38F});
    const Problem unedited = build_recipe(recipe).problem;
    const Dims& d = unedited.dims;
    for (const TensorId id : {TensorId::x, TensorId::x_kv, TensorId::W_Q, TensorId::W_O, TensorId::b_V}) {
        const Tensor* input = unedited.input(id);
        const int choice = any_of<int>({0, 1, 2});
        if (choice == 1 && input != nullptr)
            recipe.edits[id] = any_tensor(input->shape());
        else if (choice == 2)
            recipe.edits[id] = any_tensor(tensor_info(id).rank() == 1   ? Shape{7}
                                          : tensor_info(id).rank() == 2 ? Shape{7, 3}
                                                                        : Shape{1, 7, 3});
    }
    if (any_of<bool>({false, true}))
        for (std::int64_t h = 0; h < d.H + any_of<std::int64_t>({0, 1}); ++h)
            recipe.gains.push_back(any_float());
    Numbers numbers(*rc::gen::arbitrary<std::uint64_t>());
    for (const int kind :
         *rc::gen::container<std::vector<int>>(any_of<std::size_t>({0, 2}), rc::gen::inRange(0, rule_kinds)))
        recipe.extra_mask.push_back(generate_rule(kind, d, numbers));
    if (any_of<bool>({false, true})) {
        BoolTensor painted{{d.B, d.H, d.Tq, d.Tk}, {}};
        for (std::int64_t i = 0; i < painted.shape.count(); ++i)
            painted.values.push_back(static_cast<std::uint8_t>(any_of<int>({0, 1})));
        recipe.painted_mask = {ExplicitMask{std::make_shared<const BoolTensor>(std::move(painted))}};
    }
    return recipe;
}

} // namespace

TEST_CASE("every recipe comes back from a project to the last bit", "[project]") {
    const TemporaryFolder folder;
    rc::prop("save and open", [&] {
        const Recipe recipe = any_recipe();
        const Problem problem = built(recipe);
        const std::string path = folder.file("p.headscope");
        save_project(recipe, problem, path);
        const OpenedProject opened = open_project(path);
        RC_ASSERT(opened.notes.empty());
        RC_ASSERT(same_bits(opened.recipe, recipe));
        RC_ASSERT(same_bits(built(opened.recipe), problem));
        const OpenedProject recovered = recover_project(path);
        RC_ASSERT(recovered.notes.empty());
        RC_ASSERT(same_bits(recovered.recipe, recipe));
    });
}

TEST_CASE("a project opened and saved again is the same file", "[project]") {
    rc::prop("bytes", [] {
        const Recipe recipe = any_recipe();
        const std::string bytes = project_bytes(recipe, built(recipe));
        const Recipe opened = parse_project(bytes, "p").recipe;
        RC_ASSERT(project_bytes(opened, built(opened)) == bytes);
    });
}

TEST_CASE("numbers that this version would build otherwise are kept", "[project]") {
    rc::prop("a problem that its recipe does not give", [] {
        const Recipe recipe = any_recipe();
        Problem other = built(recipe);
        // A version with other embeddings: what the user changed is the same, what was built is not.
        if (recipe.edits.contains(TensorId::x) && other.x == recipe.edits.at(TensorId::x))
            other.weights.W_K = any_tensor(other.weights.W_K->shape());
        else
            other.x = any_tensor(other.x->shape());
        const OpenedProject opened = parse_project(project_bytes(recipe, other), "p.headscope");
        RC_ASSERT(same_bits(built(opened.recipe), other) || same_bits(built(recipe), other));
        if (same_bits(built(recipe), other))
            return;
        RC_ASSERT(opened.notes.size() == 1U);
        RC_ASSERT(opened.recipe.base != nullptr);
        // Edits stay edits: they can be taken back, and those that wait still wait.
        RC_ASSERT(opened.recipe.edits.size() == recipe.edits.size());
        for (const auto& [id, tensor] : recipe.edits) {
            RC_ASSERT(same_bits(opened.recipe.edits.at(id), tensor));
            if (other.input(id) == tensor.get()) {
                Problem before = build_recipe(recipe).problem, base = *opened.recipe.base;
                RC_ASSERT(same_bits(*base.input_slot(id), *before.input_slot(id)));
            }
        }
    });
}

TEST_CASE("a project is a safetensors file with the numbers on screen in it", "[project]") {
    Recipe recipe;
    recipe.sentence = text::presets().front().sentence;
    const Problem unedited = build_recipe(recipe).problem;
    const Shape shape = unedited.weights.W_Q->shape();
    recipe.edits[TensorId::W_Q] = std::make_shared<const Tensor>(shape, 0.25F);
    recipe.edits[TensorId::b_O] = std::make_shared<const Tensor>(Shape{3}, 1.5F); // waits
    const format::Safetensors file =
        format::Safetensors::from_bytes(project_bytes(recipe, built(recipe)), "p");
    CHECK(same_bits(file.tensor("problem.W_Q"), recipe.edits[TensorId::W_Q]));
    CHECK(same_bits(file.tensor("problem.W_O"), unedited.weights.W_O));
    CHECK(same_bits(file.tensor("unedited.W_Q"), unedited.weights.W_Q));
    CHECK(same_bits(file.tensor("edits.b_O"), recipe.edits[TensorId::b_O]));
    CHECK_FALSE(file.has("edits.W_Q")); // held once, as problem.W_Q
    CHECK(is_project(file));
}

TEST_CASE("a summary is read from the header alone", "[project]") {
    const TemporaryFolder folder;
    Recipe recipe;
    recipe.sentence = text::presets().front().sentence;
    save_project(recipe, built(recipe), folder.file("p.headscope"));
    const ProjectSummary summary = project_summary(folder.file("p.headscope"));
    CHECK(summary.format == project_format);
    CHECK(summary.program == HEADSCOPE_VERSION);
    CHECK(summary.title == recipe.sentence);
}

TEST_CASE("what a project could not give back is not written", "[project]") {
    Recipe recipe;
    recipe.sentence = text::presets().front().sentence;
    const Problem problem = built(recipe);
    recipe.edits[TensorId::b_O] = std::make_shared<const Tensor>(Shape{2}, std::nanf(""));
    CHECK_THAT(input_error([&] { project_bytes(recipe, problem); }), Contains("edits.b_O holds NaN"));
    recipe.edits.clear();
    recipe.gains = {std::numeric_limits<float>::infinity()};
    CHECK_THAT(input_error([&] { project_bytes(recipe, problem); }), Contains("gains"));
}
