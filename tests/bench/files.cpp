#include "tests/bench/clock.h"
#include "tests/bench/frames.h"
#include "tests/bench/machine.h"
#include "tests/bench/rows.h"

#include "app/draw/kit/format.h"
#include "core/analysis/map/map_overview.h"
#include "core/analysis/map/set_map.h"
#include "core/base/file.h"
#include "core/format/attention_file.h"
#include "core/tensor/free_buffers.h"

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <unistd.h>

namespace headscope::bench {

namespace {

/// A .npy file of float32 zeros (L, H, T, T) that takes no space on the disk. It is removed with the object.
class FileOfZeros {
public:
    FileOfZeros(std::int64_t L, std::int64_t H, std::int64_t T)
        : path_((std::filesystem::temp_directory_path() /
                 ("headscope-bench-" + std::to_string(::getpid()) + ".npy"))
                    .string()) {
        constexpr std::size_t header = 118;
        std::string text = "{'descr': '<f4', 'fortran_order': False, 'shape': (" + std::to_string(L) + ", " +
                           std::to_string(H) + ", " + std::to_string(T) + ", " + std::to_string(T) + "), }";
        text.append(header - text.size() - 1, ' ');
        write_file_atomically(path_, std::string("\x93NUMPY\x01\x00\x76\x00", 10) + text + '\n');
        std::filesystem::resize_file(path_, 10 + header + static_cast<std::uintmax_t>(4 * L * H * T * T));
    }
    FileOfZeros(const FileOfZeros&) = delete;
    FileOfZeros& operator=(const FileOfZeros&) = delete;
    ~FileOfZeros() {
        std::error_code none;
        std::filesystem::remove(path_, none);
    }
    const std::string& path() const { return path_; }

private:
    std::string path_;
};

double peak_megabytes() {
    return std::ldexp(static_cast<double>(peak_memory()), -20);
}

BenchRow seconds_row(const std::string& name, double seconds, const std::string& wanted) {
    return {name, app::time_text(seconds), wanted,
            nlohmann::json{{"name", name}, {"seconds", seconds}}.dump()};
}

struct OpenedFile {
    double opened = 0; ///< seconds from the file's name to a drawn frame with one of its heads
    Spread head;       ///< seconds of 20 other heads, each from the click until it is drawn
};

/// Measures the program's time for reading and drawing, without GL.
OpenedFile open_in_window(const std::string& path) {
    constexpr int first = 4, heads = 20;
    app::Program program({.device = "cpu"});
    program.settle();
    const std::vector<double> own = run_frames(
                                        program, first + heads + 1,
                                        [&](int n) {
                                            if (n == first)
                                                program.open_attention(format::open_attention_file(path));
                                            else if (n > first)
                                                program.act(app::OpenHead{n * 37 % 100, n * 5 % 16});
                                            if (n >= first)
                                                program.settle();
                                        },
                                        first)
                                        .own;
    return {own.front(), spread_of({own.begin() + 1, own.end()})};
}

} // namespace

void add_file_rows(std::vector<BenchRow>& rows) {
    {
        const FileOfZeros file(100, 16, 2048);
        const std::string name = "file of 26.8 GB, 100 x 16 heads of 2,048 tokens: ";
        release_free_buffers(); // like an idle window
        reset_peak_memory();
        const OpenedFile times = open_in_window(file.path());
        rows.push_back(seconds_row(name + "opened and drawn", times.opened, "wanted: under 0.5 s"));
        rows.push_back(timed_row(name + "another head", times.head, "under 50 ms"));
        const double peak = peak_megabytes();
        rows.push_back({name + "memory", app::number(peak, 0) + " MB", "at most; wanted: under 400 MB",
                        nlohmann::json{{"name", name + "memory"}, {"peak_megabytes", peak}}.dump()});
    }
    const FileOfZeros file(1, 4, 32768);
    const std::string name = "file of 17.2 GB, 4 heads of 32,768 tokens: ";
    Progress progress;
    reset_peak_memory();
    const auto start = BenchClock::now();
    const analysis::SetMap map(format::open_attention_file(file.path()), 0, 1);
    double first = 0;
    const auto put = [&](const analysis::MapOverview&) { first = first == 0 ? since(start) : first; };
    analysis::read_overview(map, 2048, put, nullptr, progress);
    const double seconds = since(start), peak = peak_megabytes();
    rows.push_back(seconds_row(name + "first picture of its map", first, "one run; wanted: under 0.5 s"));
    rows.push_back(seconds_row(name + "all of it", seconds,
                               "one run, 4.3 GB read; " + app::number(peak, 0) + " MB at most"));
    rows.push_back(timed_row(name + "a rectangle of 512 x 512", time_of([&] {
                                 map.pooled({20'000, 10'000, 512, 512}, 1, Pooling::max, progress);
                             }),
                             "under 16 ms"));
}

} // namespace headscope::bench
