#include "core/analysis/effects/direct_projections.h"
#include "core/analysis/effects/frozen_norm.h"
#include "core/analysis/effects/logit_attribution.h"
#include "core/analysis/effects/score_terms.h"
#include "core/analysis/effects/source_map.h"
#include "core/analysis/effects/stream_writers.h"
#include "core/checkpoint/graph/graph_runs.h"
#include "core/checkpoint/model/text_model.h"
#include "core/engine/engine.h"
#include "tests/catch.h"
#include "tests/support.h"
#include "tests/test_data.h"

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

using namespace headscope;
using namespace headscope::analysis;

namespace {

/// Every checkpoint of the tests that has a head, decoders that read both ways among them, with a run over
/// some ids.
template<class Check>
void for_every_model(const Check& check) {
    int checked = 0;
    std::vector<std::filesystem::path> folders{test_data("/files/phi3_not_causal"),
                                               test_data("/files/bidirectional_gemma3")};
    for (const auto& folder : std::filesystem::directory_iterator(test_data("/models")))
        folders.push_back(folder.path());
    for (const std::filesystem::path& folder : folders) {
        if (!std::filesystem::exists(folder / "config.json"))
            continue;
        const auto model =
            std::make_shared<const checkpoint::Model>(checkpoint::Model::open(folder.string()));
        if (!model->problem().empty() || !model->has_head())
            continue;
        if (!has_one_stream(*model)) {
            CHECK(folder.filename() == "gemma3n_text_tiny"); // refused, see its own tests
            continue;
        }
        CAPTURE(folder.filename().string());
        checkpoint::ModelInputs inputs;
        inputs.ids = {3, 7, 5, 11, 2, 9};
        inputs.T = 6;
        if (model->encoder() != nullptr)
            inputs.source = {inputs};
        Progress progress;
        check(*checkpoint::ModelRun::compute(model, inputs, {}, nullptr, {}, progress));
        ++checked;
    }
    CHECK(checked >= 20);
}

/// The terms that an attention and the MLP after it add to the residual stream, in a run from scratch.
class AddedByBranches {
public:
    AddedByBranches(const checkpoint::ModelRun& run, std::int64_t n)
        : run_(run), place_(attention_place(run.model().config(), n)),
          runs_(run.text(), run.edits(), std::make_shared<checkpoint::Workshop>()) {
        std::vector<graph::Part> captures;
        for (const TensorId id : stages().in_layer(place_))
            captures.push_back({runs_.name(place_, id)});
        Progress progress;
        numbers_ = runs_.run(captures, {}, nullptr, progress);
    }

    checkpoint::AttentionPlace place() const { return place_; }
    /// (1, D): the attention's term at a position, after the norms that replace the residual stream.
    Tensor by_attention(std::int64_t position) const {
        Tensor row = row_of(TensorId::attn_out, position);
        pass(row, TensorId::norm1, position);
        pass(row, TensorId::norm2, position);
        return row;
    }
    /// The same for the MLP; nothing if another attention comes first.
    std::optional<Tensor> by_mlp(std::int64_t position) const {
        if (!stages().has(place_, TensorId::mlp_out))
            return std::nullopt;
        Tensor row = row_of(TensorId::mlp_out, position);
        pass(row, TensorId::norm2, position);
        return row;
    }

private:
    const checkpoint::ModelStages& stages() const { return run_.model().stages(); }
    Tensor row_of(TensorId id, std::int64_t position) const {
        const Tensor& all = *(*numbers_)[runs_.name(place_, id)];
        const auto D = static_cast<std::size_t>(all.shape().back(0));
        return {Shape{1, all.shape().back(0)},
                all.values().subspan(static_cast<std::size_t>(position) * D, D)};
    }
    void pass(Tensor& row, TensorId id, std::int64_t position) const {
        if (!stages().is_stream(place_, id))
            return;
        const checkpoint::NormOfRows norm = *stages().norm(place_, id);
        const checkpoint::WeightSet weights =
            run_.model().layer(attention_number(run_.model().config(), place_));
        const Tensor read = row_of(stages().sources(place_, id).front(), position);
        FrozenNorm(read.values(), norm, norm.weight ? weights[*norm.weight] : nullptr).apply(row);
    }

    const checkpoint::ModelRun& run_;
    checkpoint::AttentionPlace place_;
    checkpoint::GraphRuns runs_;
    run::RunPtr numbers_;
};

/// Compares StreamWriters up to each attention that leads to the logits.
void check_writers(const checkpoint::ModelRun& run) {
    const checkpoint::ModelConfig& a = run.model().config();
    Tensor unit(Shape{a.D, a.D}, 0.0F);
    for (std::int64_t d = 0; d < a.D; ++d)
        unit.at(d, d) = 1.0F;
    const auto check = [&](const std::vector<double>& written, std::span<const float> expected) {
        for (std::size_t d = 0; d < written.size(); ++d)
            CHECK(written[d] == Approx(expected[d]).epsilon(1e-4).margin(1e-5));
    };
    for (std::int64_t n = attention_number(a, {checkpoint::Stack::own, 0}); n < attention_count(a); ++n) {
        const AddedByBranches added(run, n);
        const checkpoint::AttentionPlace place = added.place();
        CAPTURE(n);
        for (const std::int64_t position : {0, 3, 5}) {
            CAPTURE(position);
            const StreamWriters stream(run, position, n + 1, false, Progress());
            const Tensor rows = stream.along(unit);
            const auto sum_of = [&](const auto& is_one) {
                std::vector<double> sum(static_cast<std::size_t>(a.D));
                for (std::size_t w = 0; w < stream.writers().size(); ++w)
                    for (std::int64_t d = 0; d < a.D && is_one(stream.writers()[w]); ++d)
                        sum[static_cast<std::size_t>(d)] +=
                            static_cast<double>(rows.at(static_cast<std::int64_t>(w), d));
                return sum;
            };
            using Kind = Writer::Kind;
            check(sum_of([&](const Writer& one) {
                      return one.stack == place.stack && one.layer == place.layer &&
                             (one.kind == Kind::head || one.kind == Kind::output_bias ||
                              one.kind == Kind::delta);
                  }),
                  added.by_attention(position).values());
            if (const std::optional<Tensor> mlp = added.by_mlp(position))
                check(sum_of([&](const Writer& one) {
                          return one.kind == Kind::mlp && one.layer == place.layer;
                      }),
                      mlp->values());
            check(sum_of([](const Writer&) { return true; }), stream.stream());
        }
    }
}

} // namespace

TEST_CASE("heads with b_O, and MLPs, write what a run from scratch adds, and all writers the stream, in "
          "every family",
          "[attribution]") {
    for_every_model([](const checkpoint::ModelRun& run) {
        check_writers(run);
        const checkpoint::ModelConfig& a = run.model().config();
        const std::int64_t last = attention_number(a, {checkpoint::Stack::own, a.layers - 1});
        if (!has_attention(a, attention_place(a, last)))
            return;
        std::vector<float> gains(static_cast<std::size_t>(a.H), 0.5F);
        gains.back() = 2.0F;
        Progress progress;
        check_writers(*checkpoint::ModelRun::compute(
            run.model_ptr(), run.inputs(), {{last, {.tensors = {}, .gains = gains}}}, nullptr, {}, progress));
    });
}

TEST_CASE("the parts of a logit add up to the logit, in every family", "[attribution]") {
    for_every_model([](const checkpoint::ModelRun& run) {
        const TensorPtr kept = run.logits();
        const Tensor& logits = *kept;
        const auto logit = [&](std::int64_t position, std::int64_t id) {
            return static_cast<double>(logits.at(0, position, id));
        };
        const double cap = run.model().stages().logit_cap();
        for (const std::int64_t position : {0, 3, 5}) {
            const std::span<const float> row =
                logits.values().subspan(static_cast<std::size_t>(logits.offset(0, position, 0)),
                                        static_cast<std::size_t>(logits.shape()[2]));
            const double mean =
                std::accumulate(row.begin(), row.end(), 0.0) / static_cast<double>(row.size());
            using From = LogitQuestion::From;
            for (const auto& [from, less] :
                 {std::pair(From::zero, 0.0), {From::token, logit(position, 8)}, {From::mean, mean}}) {
                const LogitAttribution all = logit_attribution(
                    run, {.position = position, .token = 4, .from = from, .against = 8, .sources = true},
                    Progress());
                const double sum = sum_of_parts(all, [](const Writer&) { return true; });
                CHECK(sum == Approx(all.logit).margin(1e-4));
                CHECK(all.capped == Approx(logit(position, 4) - less).margin(1e-4));
                if (cap == 0.0)
                    CHECK(all.logit == Approx(all.capped).margin(1e-9));
                for (const LogitPart& part : all.parts) {
                    CHECK(part.sources.empty() == (part.writer.kind != Writer::Kind::head));
                    if (!part.sources.empty())
                        CHECK(std::accumulate(part.sources.begin(), part.sources.end(), 0.0) ==
                              Approx(part.value).margin(1e-4));
                }
            }
        }
    });
}

TEST_CASE("a head's map by source tokens has the head's parts of each position, in every family",
          "[attribution]") {
    for_every_model([](const checkpoint::ModelRun& run) {
        const checkpoint::ModelConfig& a = run.model().config();
        const LogitQuestion question{
            .token = 4, .from = LogitQuestion::From::token, .against = 8, .sources = true};
        std::vector<checkpoint::Stack> stacks{checkpoint::Stack::own};
        if (run.model().encoder() != nullptr)
            stacks.push_back(checkpoint::Stack::cross);
        for (const checkpoint::Stack stack : stacks)
            for (const std::int64_t layer : {checkpoint::nearest_attention(a, {stack, 0}), a.layers - 1}) {
                const Writer writer{Writer::Kind::head, stack, layer, a.H - 1};
                const Tensor map =
                    source_map(run, question, attention_number(a, {stack, layer}), a.H - 1, Progress());
                for (std::int64_t position = 0; position < run.inputs().T; ++position) {
                    LogitQuestion here = question;
                    here.position = position;
                    const LogitAttribution all = logit_attribution(run, here, Progress());
                    const auto part = std::ranges::find(all.parts, writer, &LogitPart::writer);
                    REQUIRE(part != all.parts.end());
                    REQUIRE(std::ssize(part->sources) == map.shape()[1]);
                    for (std::int64_t j = 0; j < map.shape()[1]; ++j)
                        CHECK(map.at(position, j) ==
                              Approx(part->sources[static_cast<std::size_t>(j)]).epsilon(1e-4).margin(1e-5));
                }
            }
    });
}

TEST_CASE("writers of a query and a key, and pairs of their numbers, add up to the score, in every family",
          "[attribution]") {
    const auto engine = engine::make_engine("cpu");
    for_every_model([&](const checkpoint::ModelRun& run) {
        const checkpoint::ModelConfig& a = run.model().config();
        if (!has_direct_projections(run.model()) || has_relative_terms(run.model())) {
            CHECK_THAT(input_error([&] {
                           score_terms(run, {0, 0, 5, 2}, Progress());
                       }),
                       Catch::Contains(has_relative_terms(run.model()) ? "terms by relative position"
                                                                       : "latent vectors"));
            return;
        }
        for (const std::int64_t layer :
             {checkpoint::nearest_attention(a, {checkpoint::Stack::own, 0}), a.layers - 1}) {
            const std::int64_t n = attention_number(a, {checkpoint::Stack::own, layer});
            const Problem problem = run.problem(n);
            const Trace trace = engine->run(problem);
            // Where the model reads both ways the key may come after the query.
            const auto [query, key] = a.causal ? std::pair(5, 2) : std::pair(2, 5);
            for (const std::int64_t h : {std::int64_t{0}, a.H - 1}) {
                const ScoreTerms all = score_terms(run, {n, h, query, key}, Progress());
                const auto scaled = static_cast<double>(trace.stage(TensorId::scaled)->at(0, h, query, key));
                CHECK(all.capped == Approx(scaled).epsilon(1e-4).margin(1e-5));
                const auto values = all.terms.values();
                CHECK(std::accumulate(values.begin(), values.end(), 0.0) ==
                      Approx(all.scaled).epsilon(1e-4).margin(1e-5));
                CHECK(all.pairs.empty() == !problem.rotary.has_value());
                if (!all.pairs.empty())
                    CHECK(std::accumulate(all.pairs.begin(), all.pairs.end(), 0.0,
                                          [](double sum, const RotationPair& pair) {
                                              return sum + pair.turned;
                                          }) == Approx(all.scaled).epsilon(1e-4).margin(1e-5));
                CHECK(std::ssize(all.writers) == all.terms.shape()[0]);
            }
        }
    });
}
