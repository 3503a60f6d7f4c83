#include "tests/bench/attention.h"
#include "tests/bench/clock.h"
#include "tests/bench/frames.h"
#include "tests/bench/rows.h"

#include "app/draw/kit/format.h"
#include "core/analysis/heads/head_facts.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>

namespace headscope::bench {

namespace {

/// Causal attention in memory, like that of a model's forward pass, over tokens that repeat from time to
/// time.
class SyntheticAttention final : public AttentionSet {
public:
    /// The number of layers equals the number of heads.
    SyntheticAttention(std::int64_t heads, std::int64_t T) {
        info_.L = info_.H = heads;
        for (std::int64_t i = 0; i < T; ++i)
            tokens_.push_back("w" + std::to_string(i * i % 61));
        info_.Tq = info_.Tk = T;
        info_.title = "T " + std::to_string(T);
        info_.held_as = "float32";
        info_.bytes = static_cast<std::uint64_t>(info_.L * info_.H * T * T) * sizeof(float);
        for (std::int64_t l = 0; l < info_.L; ++l) {
            info_.numbers.push_back(l);
            auto layer = std::make_shared<Tensor>(Shape{1, info_.H, T, T}, 0.0F);
            for (std::int64_t h = 0; h < info_.H; ++h)
                for (std::int64_t i = 0; i < T; ++i)
                    fill_row(layer->data() + layer->offset(0, h, i, 0), i);
            layers_.push_back(std::move(layer));
        }
    }

    const AttentionInfo& info() const override { return info_; }
    const std::vector<std::string>& query_tokens(std::int64_t) const override { return tokens_; }
    const std::vector<std::string>& key_tokens(std::int64_t) const override { return tokens_; }
    TensorPtr layer(std::int64_t l) const override { return layers_[static_cast<std::size_t>(l)]; }
    void read_part(std::int64_t l, std::int64_t h, const MapPart& part, std::span<float> to) const override {
        copy_part(*layers_[static_cast<std::size_t>(l)], h, part, to);
    }

private:
    void fill_row(float* row, std::int64_t i) {
        float sum = 0;
        for (std::int64_t j = 0; j <= i; ++j) {
            state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL; // Knuth's MMIX generator
            row[j] = std::exp(static_cast<float>(state_ >> 40U) / static_cast<float>(1 << 22));
            sum += row[j];
        }
        for (std::int64_t j = 0; j <= i; ++j)
            row[j] /= sum;
    }

    AttentionInfo info_;
    std::vector<std::string> tokens_;
    std::vector<TensorPtr> layers_;
    std::uint64_t state_ = 1;
};

double at_share(std::vector<double> values, double share) {
    std::ranges::sort(values);
    return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
}

double resident_megabytes() {
    std::ifstream file("/proc/self/status");
    for (std::string line; std::getline(file, line);)
        if (line.starts_with("VmRSS:"))
            return std::stod(line.substr(6)) / 1024.0;
    return 0;
}

struct Measured {
    double opened = 0; ///< seconds from opening the set to its maps, its layer and a drawn frame
    double frame = 0;  ///< seconds for a frame with software GL while nothing changes
    double own = 0;    ///< the program's part of `frame`
    double hover = 0,
           click = 0;    ///< `own` of the slowest of 20 frames, each with another weight or head
    double reading = 0;  ///< the same, with another filter of the weights in each frame
    double resident = 0; ///< megabytes, weights included
};

Measured measure(std::int64_t T) {
    constexpr int frames = 120;
    Measured out;
    const auto set = std::make_shared<const SyntheticAttention>(12, T);
    app::Program program({.device = "auto"});
    program.settle();
    const auto slowest = [&](const std::function<void(int)>& act) {
        return at_share(run_frames(program, 20, act).own, 1);
    };
    run_frames(program, 1); // the very first run also loads GL
    const double blank = run_frames(program, 1).seconds;
    const auto start = BenchClock::now();
    program.open_attention(set);
    program.settle();
    const double first = run_frames(program, 1).seconds;
    out.opened = std::max(since(start) - blank, 0.0); // without the start of GL
    const TimedFrames still = run_frames(program, frames);
    out.frame = (still.seconds - first) / (frames - 1);
    out.own = at_share(still.own, 0.5);
    out.hover = slowest([&](int n) {
        program.state().view.hover = app::CellAddress{TensorId::weights, {0, 0, T - 1 - n, n}};
    });
    out.click = slowest([&](int n) { program.act(app::OpenHead{n % 12, (n * 5) % 12}); });
    out.reading = slowest([&](int n) {
        program.act(app::SetReadingOptions{{.hide_first_token = n % 2 == 0, .means = n % 3 != 0}});
    });
    out.resident = resident_megabytes();
    return out;
}

struct MeasuredAtlas {
    Spread scores;     ///< all scores of a text, for 12 x 12 heads over 128 tokens, one thread
    double frame = 0;  ///< the same as in Measured, for 32 x 32 heads
    double change = 0; ///< seconds for a frame in which another part of the scatter plot is selected
    double brush = 0;  ///< the program's time in the slowest of 60 of those
};

MeasuredAtlas measure_atlas() {
    using analysis::HeadScore;
    using app::AtlasChange;
    constexpr int frames = 120;
    MeasuredAtlas out;
    const SyntheticAttention text(12, 128);
    out.scores = time_of([&] {
        for (std::int64_t l = 0; l < text.info().L; ++l) {
            const TensorPtr layer = text.layer(l);
            const auto cells = static_cast<std::size_t>(text.info().Tq * text.info().Tk);
            for (std::int64_t h = 0; h < text.info().H; ++h)
                analysis::head_metrics(layer->values().subspan(static_cast<std::size_t>(h) * cells, cells),
                                       text.info().Tq, text.info().Tk, analysis::key_tokens_of(text, l));
        }
    });
    app::Program program({.device = "auto"});
    program.open_attention(std::make_shared<const SyntheticAttention>(32, 64));
    program.settle();
    program.act(app::ShowScreen{app::Screen::atlas});
    program.settle();
    const auto brush = [&](int n) {
        const float low = 0.01F * static_cast<float>(n % 30);
        program.act(app::BrushScores{{{HeadScore::previous, low, low + 0.3F}, {HeadScore::entropy, 0, 3}}});
    };
    const double first = run_frames(program, 1).seconds;
    out.frame = (run_frames(program, frames).seconds - first) / (frames - 1);
    const TimedFrames brushed = run_frames(program, 60, brush);
    out.change = (brushed.seconds - first) / 59;
    out.brush = at_share(brushed.own, 1);
    return out;
}

} // namespace

void bench_attention(bool json) {
    auto all = nlohmann::json::array();
    for (const std::int64_t T : {std::int64_t{128}, std::int64_t{256}}) {
        const Measured m = measure(T);
        if (json) {
            all.push_back({{"T", T},
                           {"opened_seconds", m.opened},
                           {"frame_seconds", m.frame},
                           {"own_seconds", m.own},
                           {"hover_seconds", m.hover},
                           {"click_seconds", m.click},
                           {"reading_seconds", m.reading},
                           {"resident_mb", m.resident}});
            continue;
        }
        const std::string name = "board of 12 x 12 heads, T " + std::to_string(T) + ": ";
        std::cout << name << "frames a second        " << app::number(1 / m.frame, 0)
                  << "   wanted: 30 at T 128\n"
                  << name << "frame's own work       " << app::time_text(m.own) << '\n'
                  << name << "opened and drawn in    " << app::time_text(m.opened) << "   wanted: under 1 s\n"
                  << name << "own work of a hover    " << app::time_text(m.hover)
                  << "   wanted: under 16 ms\n"
                  << name << "own work of a click    " << app::time_text(m.click)
                  << "   wanted: under 16 ms\n"
                  << name << "own work of a reading  " << app::time_text(m.reading)
                  << "   wanted: under 16 ms\n"
                  << name << "resident               " << app::number(m.resident, 0)
                  << " MB   wanted: under 400 MB\n";
    }
    const MeasuredAtlas atlas = measure_atlas();
    if (json)
        all.push_back({{"atlas_scores_seconds", atlas.scores.median},
                       {"atlas_frame_seconds", atlas.frame},
                       {"atlas_brush_frame_seconds", atlas.change},
                       {"atlas_brush_seconds", atlas.brush}});
    else
        std::cout << "atlas: scores of 12 x 12 heads, T 128             "
                  << app::time_text(atlas.scores.median) << "   wanted: under 100 ms\n"
                  << "atlas of 32 x 32 heads: frames a second           " << app::number(1 / atlas.frame, 0)
                  << "   wanted: 60\n"
                  << "atlas of 32 x 32 heads: own work of a brush        " << app::time_text(atlas.brush)
                  << "   wanted: under 16 ms\n"
                  << "atlas of 32 x 32 heads: frame after a brush, drawn " << app::time_text(atlas.change)
                  << '\n';
    if (json)
        std::cout << all.dump(2) << '\n';
}

} // namespace headscope::bench
