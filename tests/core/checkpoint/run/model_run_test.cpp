#include "core/checkpoint/run/model_run.h"

#include "core/base/error.h"
#include "tests/catch.h"
#include "tests/core/checkpoint/run/model_case.h"
#include "tests/support.h"
#include "tests/tensors.h"
#include "tests/test_data.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <thread>
#include <vector>

using namespace headscope;
using namespace headscope::checkpoint;
using namespace headscope::test;
using Catch::Contains;

namespace {

ModelPtr open_model(const std::string& name, std::size_t kept_bytes = Model::default_kept_bytes) {
    return std::make_shared<const Model>(Model::open(test_data("/models/") + name, kept_bytes));
}

ModelRunPtr run_model_on(const ModelPtr& model, const ModelInputs& inputs, const ModelEdits& edits = {},
                         const ModelRunPtr& before = nullptr, ModelRun::Options options = {}) {
    Progress progress;
    ModelRunPtr made = ModelRun::compute(model, inputs, edits, before, options, progress);
    CHECK(progress.fraction() == 1.0F);
    return made;
}

void check_same(const ModelRun& a, const ModelRun& b) {
    REQUIRE(a.info().L == b.info().L);
    for (std::int64_t l = 0; l < a.info().L; ++l) {
        INFO("layer " << l);
        if (a.info().has_weights(l))
            CHECK(same_bits(*a.layer(l), *b.layer(l)));
        CHECK(same_bits(*a.hidden(l + 1), *b.hidden(l + 1)));
    }
    CHECK(same_bits(*a.hidden(0), *b.hidden(0)));
    CHECK(same_bits(*a.logits(), *b.logits()));
}

/// The second layer with attention, else the only one.
std::int64_t gained_layer(const Model& model) {
    const std::vector<std::int64_t> layers = attention_layers(model.architecture());
    return layers[layers.size() > 1 ? 1 : 0];
}

/// A copy with the numbers of columns [first, first + count) moved.
TensorPtr moved(const Tensor& tensor, std::int64_t first, std::int64_t count) {
    auto out = std::make_shared<Tensor>(tensor.shape(), tensor.values());
    const std::int64_t width = tensor.shape().back(0);
    for (std::int64_t i = 0; i < tensor.count(); ++i)
        if (i % width >= first && i % width < first + count)
            out->data()[i] += 0.3F;
    return out;
}

/// Returns true if any weight of a head differs.
bool head_moved(const ModelRun& before, const ModelRun& after, std::int64_t l, std::int64_t h) {
    const auto count = static_cast<std::size_t>(before.info().Tq * before.info().Tk);
    std::vector<float> was(count), is(count);
    before.read_head(l, h, was);
    after.read_head(l, h, is);
    return was != is;
}

/// Edits of layer l: W_Q all moved, and a bias where there is one.
LayerEdits some_edits(const ModelRun& run, std::int64_t l) {
    const Problem problem = run.problem(l);
    LayerEdits edits;
    edits.tensors[TensorId::W_V] = moved(*problem.weights.W_V, 0, 3);
    edits.tensors[TensorId::W_Q] = moved(*problem.weights.W_Q, 1, 4);
    if (problem.weights.b_O != nullptr)
        edits.tensors[TensorId::b_O] = moved(*problem.weights.b_O, 0, 2);
    return edits;
}

} // namespace

TEST_CASE("a run of a checkpoint has the numbers of run_model, bit for bit") {
    for (const std::string& name : model_case_names()) {
        INFO(name);
        const ModelInputs inputs = first_text(name);
        const ModelPtr model = open_model(name);
        const ForwardResult expected =
            run_on_cpu(*model, inputs, {.stages = StageSet().with(TensorId::weights)});
        const ModelRunPtr got = run_model_on(model, inputs);
        CHECK(got->computed_from() == 0);
        const AttentionInfo& info = got->info();
        const ModelCase one = load_model_case(name);
        const std::int64_t L = one.L;
        CHECK(
            (info.L == L && info.Tq == inputs.T && info.Tk == inputs.T && info.H == model->architecture().H));
        std::vector<std::int64_t> layers(static_cast<std::size_t>(L));
        std::iota(layers.begin(), layers.end(), 0);
        CHECK(info.numbers == layers);
        CHECK(info.title == name);
        REQUIRE(std::ssize(expected.layers) == std::ssize(one.attention_layers));
        for (const LayerRun& layer : expected.layers)
            CHECK(same_bits(*got->layer(layer.place.layer), *layer.trace.stage(TensorId::weights)));
        for (std::int64_t l = 0; l <= L; ++l)
            CHECK(same_bits(*got->hidden(l), *expected.hidden[static_cast<std::size_t>(l)]));
        CHECK(same_bits(*got->logits(), *expected.logits));
        const std::int64_t vocab = model->architecture().vocab;
        for (const std::int64_t position : {std::int64_t{0}, inputs.T - 1, std::int64_t{2}}) {
            const TensorPtr row = got->logits_at(position, Progress());
            CHECK(row->shape() == Shape{1, 1, vocab});
            CHECK(std::ranges::equal(
                row->values(), expected.logits->values().subspan(static_cast<std::size_t>(position * vocab),
                                                                 static_cast<std::size_t>(vocab))));
            CHECK(got->logits_at(position, Progress()) == row);
        }
    }
}

TEST_CASE("a run keeps the logits of one position, and never those of all") {
    const ModelInputs inputs = first_text("gpt2_tiny");
    const ModelRunPtr made = run_model_on(open_model("gpt2_tiny"), inputs);
    const std::weak_ptr<const Tensor> all = made->logits(), first = made->logits_at(0, Progress());
    CHECK(all.expired());
    CHECK_FALSE(first.expired());
    made->logits_at(1, Progress());
    CHECK(first.expired());
}

TEST_CASE("a run after edits has the numbers of one from scratch, and computes from the first that differs") {
    for (const std::string& name : attending_model_names()) {
        INFO(name);
        const ModelInputs inputs = first_text(name);
        const ModelPtr model = open_model(name);
        const ModelRunPtr plain = run_model_on(model, inputs);
        ModelEdits edits;
        // Runs keep one copy of the residual stream: with several, they begin at the first layer.
        const auto first_computed = [&](std::int64_t l) { return model->architecture().copies ? 0 : l; };
        for (const std::int64_t l : {std::int64_t{1}, std::int64_t{0}}) {
            edits[l] = some_edits(*plain, l);
            const ModelRunPtr again = run_model_on(model, inputs, edits, plain);
            CHECK(again->computed_from() == first_computed(l));
            check_same(*again, *run_model_on(model, inputs, edits));
            CHECK_FALSE(same_bits(*again->logits(), *plain->logits()));
            if (l == 1)
                CHECK(again->layer(0) == plain->layer(0));
        }
        // From one set of edits to another: layer 0 has the same in both.
        const ModelRunPtr both = run_model_on(model, inputs, edits);
        ModelEdits first_only{{0, edits[0]}};
        const ModelRunPtr back = run_model_on(model, inputs, first_only, both);
        CHECK(back->computed_from() == first_computed(1));
        check_same(*back, *run_model_on(model, inputs, first_only));
        // Nothing changed, said in another way.
        first_only[1].gains.assign(static_cast<std::size_t>(model->architecture().H), 1.0F);
        const ModelRunPtr same = run_model_on(model, inputs, first_only, back);
        const std::int64_t L = same->info().L;
        CHECK(same->computed_from() == L);
        CHECK(same->hidden(L) == back->hidden(L));
        CHECK(same_bits(*same->logits(), *back->logits()));
        // A run of other inputs has nothing to share.
        ModelInputs other = inputs;
        other.ids.front() += 1;
        CHECK(run_model_on(model, other, {}, plain)->computed_from() == 0);
    }
}

TEST_CASE("weights beyond the budget are computed again, and are the same") {
    for (const char* name : {"gpt2_tiny", "bert_tiny", "mistral_tiny"}) {
        const ModelInputs inputs = first_text(name);
        const ModelPtr model = open_model(name);
        const ModelRunPtr all = run_model_on(model, inputs);
        const std::size_t layer_bytes = all->info().bytes / 2;
        const ModelEdits edits{{1, some_edits(*all, 1)}};
        for (const std::size_t budget : {std::size_t{0}, layer_bytes, 2 * layer_bytes - 1}) {
            const ModelRunPtr some = run_model_on(model, inputs, {}, nullptr, {budget});
            check_same(*some, *all);
            check_same(*run_model_on(model, inputs, edits, some, {budget}),
                       *run_model_on(model, inputs, edits));
        }
        // So are a model's own weights.
        const ModelPtr poor = open_model(name, 0);
        check_same(*run_model_on(poor, inputs), *all);
        check_same(*run_model_on(poor, inputs, edits, run_model_on(poor, inputs)),
                   *run_model_on(model, inputs, edits));
    }
}

TEST_CASE("rows and heads of a layer that is not kept are those of the whole layer") {
    for (const std::string& name : model_case_names()) {
        INFO(name);
        const ModelPtr model = open_model(name);
        ModelEdits edits;
        edits[gained_layer(*model)].gains.assign(static_cast<std::size_t>(model->architecture().H), 0.5F);
        const ModelRunPtr whole = run_model_on(model, first_text(name), edits),
                          parts = run_model_on(model, first_text(name), edits, nullptr,
                                               {.kept_bytes = 0, .whole_bytes = 0});
        const AttentionInfo& info = whole->info();
        const MapPart part{1, 2, info.Tq - 1, info.Tk - 2};
        std::vector<float> a(static_cast<std::size_t>(part.rows * part.cols)), b(a.size());
        for (const std::int64_t l : attention_layers(model->architecture())) {
            const TensorPtr rows = parts->rows(l, 2, 2, Progress()), kept = whole->rows(l, 2, 2, Progress());
            REQUIRE(rows->shape() == Shape{1, info.H, 2, info.Tk});
            for (std::int64_t n = 0; n < rows->count(); ++n)
                REQUIRE(rows->data()[n] == Approx(kept->data()[n]).margin(1e-6));
            for (std::int64_t h = 0; h < info.H; ++h) {
                CHECK(kept->at(0, h, 1, 0) == whole->layer(l)->at(0, h, 3, 0));
                whole->read_part(l, h, part, a);
                parts->read_part(l, h, part, b);
                for (std::size_t n = 0; n < a.size(); ++n)
                    REQUIRE(b[n] == Approx(a[n]).margin(1e-6));
            }
        }
    }
}

TEST_CASE("a layer's problem is the checkpoint's own attention, and its weights are one object") {
    for (const std::size_t kept : {std::size_t{0}, Model::default_kept_bytes}) {
        const ModelInputs inputs = first_text("qwen2_tiny_bf16");
        const ModelPtr model = open_model("qwen2_tiny_bf16", kept);
        const ModelRunPtr plain = run_model_on(model, inputs);
        const Problem own = plain->problem(1);
        const ModelEdits edits{{0, some_edits(*plain, 0)}, {1, some_edits(*plain, 1)}};
        const Problem later = run_model_on(model, inputs, edits, plain)->problem(1);
        for (const TensorId id : {TensorId::W_Q, TensorId::W_K, TensorId::W_V, TensorId::W_O, TensorId::b_Q})
            CHECK(own.input(id) == later.input(id));
        CHECK_FALSE(same_bits(*own.x, *later.x));
        CHECK((later.gains.empty() && later.rotary.has_value()));
    }
    // x is the normed hidden state before the layer; its attention is that of the run.
    const ModelInputs inputs = first_text("gpt2_tiny");
    const ModelPtr model = open_model("gpt2_tiny");
    const ModelRunPtr plain = run_model_on(model, inputs);
    const ForwardResult whole =
        run_on_cpu(*model, inputs, {.stages = StageSet::all(), .layer = 1, .keep_problems = true});
    CHECK(same_bits(*plain->problem(1).x, *whole.layers[0].problem->x));
}

TEST_CASE("gains of 0 take a head away") {
    const ModelInputs inputs = first_text("gpt2_tiny");
    const ModelPtr model = open_model("gpt2_tiny");
    const ModelRunPtr plain = run_model_on(model, inputs);
    ModelEdits gains, weights;
    gains[1].gains = {1, 1, 0, 1};
    // Head 2 without its rows of W_O sends nothing either.
    const Tensor& W_O = *plain->problem(1).weights.W_O;
    auto cut = std::make_shared<Tensor>(W_O.shape(), W_O.values());
    const std::int64_t dk = model->architecture().dk, D = model->architecture().D;
    std::fill_n(cut->data() + 2 * dk * D, dk * D, 0.0F);
    weights[1].tensors[TensorId::W_O] = cut;
    const ModelRunPtr by_gain = run_model_on(model, inputs, gains, plain),
                      by_weights = run_model_on(model, inputs, weights, plain);
    CHECK(same_bits(*by_gain->logits(), *by_weights->logits()));
    CHECK_FALSE(same_bits(*by_gain->logits(), *plain->logits()));
    CHECK(by_gain->layer(0) == plain->layer(0));
    CHECK(same_bits(*by_gain->layer(1), *plain->layer(1)));
}

TEST_CASE("an edit of a key/value head moves all its query heads and no other") {
    for (const char* name : {"llama_tiny_untied", "mistral_tiny", "qwen2_tiny_bf16"}) {
        INFO(name);
        const ModelInputs inputs = first_text(name);
        const ModelPtr model = open_model(name);
        const Architecture& config = model->architecture();
        const std::int64_t group = config.H / config.Hkv;
        REQUIRE(group > 1);
        const ModelRunPtr plain = run_model_on(model, inputs);
        for (std::int64_t g = 0; g < config.Hkv; ++g) {
            ModelEdits edits;
            edits[0].tensors[TensorId::W_K] = moved(*plain->problem(0).weights.W_K, g * config.dk, config.dk);
            const ModelRunPtr after = run_model_on(model, inputs, edits, plain);
            for (std::int64_t h = 0; h < config.H; ++h) {
                INFO("key/value head " << g << ", query head " << h);
                CHECK(head_moved(*plain, *after, 0, h) == (h / group == g));
            }
        }
    }
}

TEST_CASE("edits that do not fit the model are named") {
    const ModelInputs inputs = first_text("llama_tiny_tied");
    const ModelPtr model = open_model("llama_tiny_tied");
    const auto fault = [&](const ModelEdits& edits) {
        return input_error([&] { run_model_on(model, inputs, edits); });
    };
    const TensorPtr small = std::make_shared<const Tensor>(Shape{2, 2}, 1.0F);
    CHECK_THAT(fault({{2, {}}}), Contains("layer 2") && Contains("0 to 1"));
    CHECK_THAT(fault({{0, {.tensors = {}, .gains = {1, 2}}}}),
               Contains("2 head gains") && Contains("8 heads"));
    CHECK_THAT(fault({{1, {.tensors = {{TensorId::W_Q, small}}, .gains = {}}}}),
               Contains("layer 1") && Contains("W_Q has shape (2, 2)"));
    CHECK_THAT(fault({{1, {.tensors = {{TensorId::b_Q, small}}, .gains = {}}}}), Contains("does not have"));
    CHECK_THAT(fault({{1, {.tensors = {{TensorId::bucket_table, small}}, .gains = {}}}}),
               Contains("not part of attention, norms or MLP"));
    const Tensor& W = *run_model_on(model, inputs)->problem(0).weights.W_Q;
    const auto broken = std::make_shared<const Tensor>(W.shape(), NAN);
    CHECK_THAT(fault({{0, {.tensors = {{TensorId::W_Q, broken}}, .gains = {}}}}),
               Contains("layer 0") && Contains("NaN"));
    ModelInputs two = inputs;
    two.B = 2;
    CHECK_THAT(input_error([&] { run_model_on(model, two); }), Contains("2 texts"));
}

TEST_CASE("a run that is cancelled leaves the one before it as it was") {
    const ModelInputs inputs = first_text("gpt2_tiny");
    const ModelPtr model = open_model("gpt2_tiny");
    const ModelRunPtr plain = run_model_on(model, inputs);
    Progress progress;
    progress.cancel();
    const ModelEdits edits{{0, some_edits(*plain, 0)}};
    CHECK(error_kind([&] { ModelRun::compute(model, inputs, edits, plain, {}, progress); }) ==
          ErrorKind::cancelled);
    check_same(*plain, *run_model_on(model, inputs));
}

TEST_CASE("what a key brings is its value through W_O of the head") {
    for (const std::string name : {"gpt2_tiny", "llama_tiny_untied"}) {
        INFO(name);
        const ModelPtr model = open_model(name);
        const ModelInputs inputs = first_text(name);
        const ModelRunPtr plain = run_model_on(model, inputs);
        const ModelRunPtr made = run_model_on(model, inputs, {{1, some_edits(*plain, 1)}});
        const Problem problem = with_edits(made->problem(1), edits_of(made->edits(), 1));
        const Dims& d = problem.dims;
        const TensorPtr lengths = made->brought(1);
        for (std::int64_t h = 0; h < d.H; ++h)
            for (std::int64_t j = 0; j < d.Tk; ++j) {
                double squares = 0;
                for (std::int64_t n = 0; n < d.D; ++n) {
                    double brought = 0;
                    for (std::int64_t c = 0; c < d.dv; ++c) {
                        const std::int64_t column = d.kv_head(h) * d.dv + c;
                        double value = problem.weights.b_V == nullptr
                                           ? 0
                                           : static_cast<double>(problem.weights.b_V->data()[column]);
                        for (std::int64_t m = 0; m < d.D; ++m)
                            value += static_cast<double>(problem.x->at(0, j, m)) *
                                     static_cast<double>(problem.weights.W_V->at(m, column));
                        brought += value * static_cast<double>(problem.weights.W_O->at(h * d.dv + c, n));
                    }
                    squares += brought * brought;
                }
                CHECK(static_cast<double>(lengths->data()[h * d.Tk + j]) ==
                      Approx(std::sqrt(squares)).epsilon(1e-5));
            }
        CHECK_FALSE(same_bits(*lengths, *plain->brought(1)));
    }
}

// Fails when goes_on ignores the angles, when the cache of the previous text is used with its longer length,
// and when with_queries does not change the numbers after the diagonal.
TEST_CASE("a text that goes on with one that was run has the numbers of a run of its own, token by token") {
    for (const std::string& name : model_case_names()) {
        const ModelPtr model = open_model(name);
        if (!model->architecture().causal)
            continue;
        INFO(name);
        const auto text = [](std::int64_t T) {
            ModelInputs inputs;
            inputs.ids = {5, 17, 32, 29, 3, 8, 11, 2, 40, 7};
            inputs.ids.resize(static_cast<std::size_t>(T));
            inputs.T = T;
            return inputs;
        };
        ModelEdits edits;
        edits[gained_layer(*model)].gains.assign(static_cast<std::size_t>(model->architecture().H), 0.5F);
        for (const ModelEdits& with : {ModelEdits(), edits}) {
            ModelRunPtr chain = run_model_on(model, text(4), with);
            for (const std::int64_t T : {5, 6, 9}) {
                INFO(T << " tokens");
                chain = run_model_on(model, text(T), with, chain);
                check_same(*chain, *run_model_on(model, text(T), with));
            }
            // Back to a shorter text, and on from there again.
            const ModelRunPtr back = run_model_on(model, text(5), with, chain);
            check_same(*back, *run_model_on(model, text(5), with));
            ModelInputs other = text(7);
            other.ids[6] = 1;
            const ModelRunPtr on = run_model_on(model, other, with, back);
            check_same(*on, *run_model_on(model, other, with));
            // The run whose caches were used continues a second time.
            check_same(*run_model_on(model, text(7), with, back), *run_model_on(model, text(7), with));
        }
        // With other edits nothing is taken over.
        check_same(*run_model_on(model, text(6), edits, run_model_on(model, text(5))),
                   *run_model_on(model, text(6), edits));
        const ModelRun::Options none{.kept_bytes = 0};
        const ModelRunPtr bare = run_model_on(model, text(5), {}, nullptr, none);
        check_same(*run_model_on(model, text(6), {}, bare, none), *run_model_on(model, text(6)));
        Progress cancelled;
        cancelled.cancel();
        const ModelRunPtr before = run_model_on(model, text(5));
        CHECK_THROWS(ModelRun::compute(model, text(6), {}, before, {}, cancelled));
        check_same(*run_model_on(model, text(6), {}, before), *run_model_on(model, text(6)));
    }
}

TEST_CASE("threads that continue one run at the same time get the numbers of runs of their own",
          "[threads]") {
    const ModelPtr model = open_model("gpt2_tiny");
    const auto text = [](std::int64_t T) {
        ModelInputs inputs;
        inputs.ids = {5, 17, 32, 29, 3, 8, 11, 2, 40, 7};
        inputs.ids.resize(static_cast<std::size_t>(T));
        inputs.T = T;
        return inputs;
    };
    const ModelRun::Options none{.kept_bytes = 0};
    for (int turn = 0; turn < 5; ++turn) {
        Progress progress;
        // Only a run that continued another one has caches to hand on.
        const ModelRunPtr before = ModelRun::compute(
            model, text(5), {}, run_model_on(model, text(4), {}, nullptr, none), none, progress);
        std::vector<ModelRunPtr> made(3);
        std::vector<std::thread> threads;
        for (std::size_t n = 0; n < made.size(); ++n)
            threads.emplace_back([&, n] { // without assertions: Catch2 is for one thread
                Progress own;
                made[n] =
                    ModelRun::compute(model, text(6 + static_cast<std::int64_t>(n)), {}, before, none, own);
                static_cast<void>(before->layer(1));
                static_cast<void>(before->rows(0, 1, 2, own));
                static_cast<void>(before->logits_at(static_cast<std::int64_t>(n), own));
                static_cast<void>(before->problem(1));
            });
        for (std::thread& thread : threads)
            thread.join();
        for (std::size_t n = 0; n < made.size(); ++n)
            check_same(*made[n], *run_model_on(model, text(6 + static_cast<std::int64_t>(n))));
    }
}
