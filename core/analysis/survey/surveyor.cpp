#include "core/analysis/survey/surveyor.h"

#include "core/analysis/heads/head_facts.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/message.h"
#include "core/base/sha256.h"
#include "core/checkpoint/graph/graph_runs.h"
#include "core/checkpoint/run/attention_problem.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <utility>
#include <variant>

namespace headscope::analysis {

namespace {

/// Tokens that go through the layers together: their hidden states stay small, and a layer's weights, where
/// they are too large to be kept, are read once for all of them.
constexpr std::int64_t tokens_together = 4096;
/// Tokens of texts of one length that are one batch: enough to use what was read of the weights.
constexpr std::int64_t tokens_of_batch = 256;

/// Texts of one length.
struct Batch {
    Batch(const checkpoint::Model& model, checkpoint::ModelInputs texts,
          const std::shared_ptr<checkpoint::Workshop>& workshop)
        : inputs(std::move(texts)),
          runs(std::make_shared<const checkpoint::TextGraph>(
                   std::shared_ptr<const checkpoint::Model>(std::shared_ptr<void>(), &model), inputs),
               {}, workshop) {}

    const checkpoint::ModelInputs inputs;
    checkpoint::GraphRuns runs;
    run::RunPtr run; ///< of the layer before, with the stream that it leaves
    std::vector<PieceName> names;
    std::vector<HeadTokens> tokens;
    std::vector<KeyFacts> keys;
};
using Batches = std::vector<std::unique_ptr<Batch>>;

Batches batches_of(const checkpoint::Model& model, std::vector<const Piece*> pieces,
                   const PieceCutter& cutter, const std::shared_ptr<checkpoint::Workshop>& workshop) {
    std::ranges::stable_sort(pieces, {}, [](const Piece* piece) { return piece->ids.size(); });
    Batches batches;
    for (std::size_t first = 0; first < pieces.size();) {
        const std::int64_t T = std::ssize(pieces[first]->ids),
                           most = std::max<std::int64_t>(1, tokens_of_batch / T);
        checkpoint::ModelInputs inputs;
        inputs.B = 0;
        inputs.T = T;
        std::size_t end = first;
        for (; end < pieces.size() && inputs.B < most && std::ssize(pieces[end]->ids) == T; ++end, ++inputs.B)
            inputs.ids.insert(inputs.ids.end(), pieces[end]->ids.begin(), pieces[end]->ids.end());
        Batch& batch = *batches.emplace_back(std::make_unique<Batch>(model, std::move(inputs), workshop));
        for (; first < end; ++first) {
            const Piece& piece = *pieces[first];
            batch.names.push_back(piece.name);
            batch.tokens.push_back({.keys = cutter.tokens_of(piece), .ids = piece.ids});
            batch.keys.push_back(key_facts(batch.tokens.back()));
        }
    }
    return batches;
}

void add_file(Sha256& hash, const std::filesystem::path& path, const Progress& cancel) {
    std::ifstream in(path, std::ios::binary);
    std::string chunk(mebibyte, '\0');
    while (in.read(chunk.data(), static_cast<std::streamsize>(chunk.size())) || in.gcount() > 0) {
        cancel.check();
        hash.add(std::as_bytes(std::span(chunk).first(static_cast<std::size_t>(in.gcount()))));
    }
    if (!in.eof())
        fail_input(tr("common.cannot_read_make_file", "cannot read {}; make it a file that can be read",
                      path.string()));
}

} // namespace

const checkpoint::Model& surveyed_model(const checkpoint::TextModel& model) {
    return model.model->encoder() == nullptr ? *model.model : *model.model->encoder();
}

std::string fingerprint_of(const checkpoint::Model& model, const Progress& cancel) {
    std::vector<std::filesystem::path> paths;
    for (const checkpoint::TensorFiles::File& file : model.files().files())
        std::visit([&](const auto& opened) { paths.emplace_back(opened->source()); }, file);
    for (const char* const name :
         {"config.json", "tokenizer.json", "tokenizer_config.json", "vocab.json", "merges.txt", "vocab.txt"})
        if (const auto path = std::filesystem::path(model.folder()) / name; std::filesystem::exists(path))
            paths.push_back(path);
    std::ranges::sort(paths);
    Sha256 hash;
    for (const std::filesystem::path& path : paths)
        add_file(hash, path, cancel);
    return hash.finish();
}

struct Surveyor::Parts {
    Parts(checkpoint::TextModelPtr opened, int threads)
        : text(std::move(opened)),
          workshop(std::make_shared<checkpoint::Workshop>(cpu::make_cpu_machine(threads))) {}

    void layer(std::int64_t l, Batch& batch, SurveyState& state, Progress& progress);
    void measure(std::int64_t l, const Trace& trace, const Batch& batch, SurveyState& state);

    checkpoint::TextModelPtr text;
    std::shared_ptr<checkpoint::Workshop> workshop;
    std::vector<HeadMetrics> metrics; ///< (B, H), filled anew by each layer of each batch
};

Surveyor::Surveyor(checkpoint::TextModelPtr model, int threads)
    : parts_(std::make_unique<Parts>(std::move(model), threads)) {}

Surveyor::~Surveyor() = default;

void Surveyor::Parts::measure(std::int64_t l, const Trace& trace, const Batch& batch, SurveyState& state) {
    const std::int64_t B = trace.dims.B, H = trace.dims.H, T = trace.dims.Tk;
    constexpr std::int64_t work_of_cell = 64; // about as long as so many FLOP
    metrics.resize(static_cast<std::size_t>(B * H));
    workshop->cpu.for_rows(B * H, work_of_cell * T * T, [&](std::int64_t first, std::int64_t count) {
        for (std::int64_t n = first; n < first + count; ++n) {
            const auto b = static_cast<std::size_t>(n / H);
            metrics[static_cast<std::size_t>(n)] =
                head_metrics(trace, n / H, n % H, batch.tokens[b], batch.keys[b]);
        }
    });
    for (std::int64_t b = 0; b < B; ++b)
        set_shares(std::span(metrics).subspan(static_cast<std::size_t>(b * H), static_cast<std::size_t>(H)));
    const Tensor& weights = *trace.stage(TensorId::weights);
    const auto add = [&](std::int64_t b, std::int64_t h, std::size_t s) {
        const HeadScore score = surveyed_scores()[s]->score;
        const HeadMetrics& of_head = metrics[static_cast<std::size_t>(b * H + h)];
        if (!of_head.has(score))
            return;
        const auto at = static_cast<std::size_t>(b);
        state.summary(l, h, s).add(batch.names[at], of_head[score], [&](ScoredPiece& piece) {
            const std::span map(weights.data() + weights.offset(b, h, 0, 0), static_cast<std::size_t>(T * T));
            const PlacedWeight cell = acting_cell(score, map, T, batch.keys[at]);
            piece.query = static_cast<std::int32_t>(cell.i);
            piece.key = static_cast<std::int32_t>(cell.j);
            piece.weight = cell.value;
        });
        if (const float beside = of_head.beside[static_cast<std::size_t>(score)]; beside != 0)
            state.summary(l, h, s).add_beside(beside);
    };
    workshop->cpu.for_rows(H, work_of_cell * B * T * T, [&](std::int64_t first, std::int64_t count) {
        for (std::int64_t h = first; h < first + count; ++h)
            for (std::int64_t b = 0; b < B; ++b)
                for (std::size_t s = 0; s < surveyed_scores().size(); ++s)
                    add(b, h, s);
    });
}

/// After the last layer's attention there is nothing to measure.
void Surveyor::Parts::layer(std::int64_t l, Batch& batch, SurveyState& state, Progress& progress) {
    const checkpoint::AttentionPlace place{checkpoint::Stack::own, l};
    const bool attends = has_attention(batch.runs.text()->model()->config(), place);
    const std::string weights = batch.runs.name(place, TensorId::weights),
                      contributions = batch.runs.name(place, TensorId::contributions);
    std::vector<graph::Part> captures;
    if (attends)
        captures = {{weights}, {contributions}};
    if (l + 1 < state.layers())
        captures.push_back({batch.runs.name({checkpoint::Stack::own, l + 1}, TensorId::resid_in)});
    try {
        batch.run = batch.runs.run(captures, {}, batch.run, progress);
    } catch (const Error& fault) {
        if (fault.kind() != ErrorKind::input)
            throw;
        fail_input(tr("surveyor.line", "line {}: {}", batch.names.front().line, fault.what()));
    }
    if (!attends)
        return;
    Trace trace;
    trace.dims = checkpoint::dims_of_attention(*batch.runs.text()->model(), batch.inputs, place);
    trace.slot(TensorId::weights) = (*batch.run)[weights];
    trace.slot(TensorId::contributions) = (*batch.run)[contributions];
    measure(l, trace, batch, state);
}

void Surveyor::add(std::span<const Piece> pieces, const PieceCutter& cutter, SurveyState& state,
                   Progress& progress) {
    const checkpoint::Model& model = surveyed_model(*parts_->text);
    for (std::size_t first = 0; first < pieces.size();) {
        std::vector<const Piece*> together;
        for (std::int64_t tokens = 0; first < pieces.size() && tokens < tokens_together; ++first) {
            together.push_back(&pieces[first]);
            tokens += std::ssize(pieces[first].ids);
            state.counts.tokens += std::ssize(pieces[first].ids);
            ++state.counts.pieces;
        }
        const Batches batches = batches_of(model, together, cutter, parts_->workshop);
        for (std::int64_t l = 0; l < state.layers(); ++l) {
            progress.check();
            const checkpoint::WeightSet held = model.layer(l); // until all batches have read them
            for (const auto& batch : batches)
                parts_->layer(l, *batch, state, progress);
        }
    }
}

} // namespace headscope::analysis
