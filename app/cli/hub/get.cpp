#include "app/cli/stop_on_signal.h"
#include "app/cli/subcommands.h"
#include "app/draw/kit/format.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/hub/curl_client.h"
#include "core/hub/download.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <unistd.h>

namespace headscope::cli {

namespace {

using Clock = std::chrono::steady_clock;

struct GetOptions {
    std::string name;
    std::optional<std::string> endpoint, cache;
};

std::string bytes_of(std::uint64_t bytes) {
    return app::bytes_text(static_cast<std::int64_t>(bytes));
}

/// Prints the progress of a download on standard error: on a terminal one line that is rewritten, else one
/// line for each file and each wait.
class ProgressLines {
public:
    ~ProgressLines() { end(); }

    void show(const hub::DownloadState& state) {
        if (!terminal_)
            return print_changes(state);
        const auto now = Clock::now();
        const bool last = state.bytes == state.of_bytes;
        if (now < shown_at_ + std::chrono::milliseconds(200) && state.pause == pause_ && !last)
            return;
        pause_ = state.pause;
        shown_at_ = now;
        print_line(state, now);
    }
    /// Ends the line that is rewritten.
    void end() {
        if (length_ > 0)
            std::cerr << '\n';
        length_ = 0;
    }

private:
    void print_changes(const hub::DownloadState& state) {
        if (state.file != file_)
            std::cerr << state.file << '\n';
        if (state.pause != pause_ && !state.pause.empty())
            std::cerr << state.pause << "; waiting\n";
        file_ = state.file;
        pause_ = state.pause;
    }
    void print_line(const hub::DownloadState& state, Clock::time_point now) {
        if (!first_bytes_) {
            first_bytes_ = state.bytes;
            began_at_ = now;
        }
        const double seconds = std::chrono::duration<double>(now - began_at_).count();
        const std::uint64_t got = state.bytes - std::min(state.bytes, *first_bytes_);
        const double whole = static_cast<double>(std::max<std::uint64_t>(state.of_bytes, 1));
        std::string line = std::to_string(static_cast<int>(100 * static_cast<double>(state.bytes) / whole)) +
                           " %  " + bytes_of(state.bytes) + " of " + bytes_of(state.of_bytes);
        if (seconds > 1 && got > 0)
            line += ", " + bytes_of(static_cast<std::uint64_t>(static_cast<double>(got) / seconds)) + "/s";
        line += "  " + (state.pause.empty() ? state.file : state.pause + "; waiting");
        const std::size_t shorter = length_ - std::min(length_, line.size());
        length_ = line.size();
        std::cerr << '\r' << line << std::string(shorter, ' ') << std::flush;
    }

    bool terminal_ = ::isatty(STDERR_FILENO) == 1;
    std::string file_, pause_;
    std::size_t length_ = 0; ///< of the line on the terminal
    Clock::time_point shown_at_{}, began_at_{};
    std::optional<std::uint64_t> first_bytes_; ///< in the cache when the download began
};

void print_plan(const hub::DownloadPlan& plan, const std::string& cache) {
    constexpr std::size_t short_commit = 8;
    std::cerr << hub::model_label(plan.model) << " (" << plan.commit.substr(0, short_commit)
              << "): " << app::counted(static_cast<std::int64_t>(plan.files.size()), "file") << ", "
              << bytes_of(plan.bytes);
    if (plan.missing < plan.bytes)
        std::cerr << ", of which " << bytes_of(plan.bytes - plan.missing) << " are there already";
    std::cerr << "; " << bytes_of(plan.free) << " are free in " << cache << '\n';
}

void run_get(const GetOptions& options) {
    const hub::ModelName model = hub::require_model_name(options.name);
    hub::Settings settings = hub::settings_from_environment();
    if (options.endpoint)
        settings.server.endpoint = *options.endpoint;
    if (options.cache)
        settings.cache = *options.cache;
    const StopOnSignal signals;
    hub::CurlClient client;
    hub::Downloads downloads(client, settings);
    Progress& progress = StopOnSignal::progress();
    try {
        const hub::DownloadPlan plan = downloads.plan(model, progress);
        print_plan(plan, settings.cache);
        ProgressLines lines;
        const std::string folder = downloads.download(
            plan, [&](const hub::DownloadState& state) { lines.show(state); }, progress);
        lines.end();
        write_file_atomically("-", folder + "\n");
    } catch (const Error& fault) {
        if (fault.kind() != ErrorKind::cancelled)
            throw;
        throw Error(ErrorKind::cancelled, "cancelled; the same command continues where this one stopped");
    }
}

} // namespace

void add_get(CLI::App& program) {
    CLI::App& command = *program.add_subcommand("get", "download a model from the Hugging Face Hub");
    const auto options = std::make_shared<GetOptions>();
    command
        .add_option("name", options->name,
                    "the model, such as openai-community/gpt2, or @ and a branch, a tag or a commit after it")
        ->option_text("NAME[@REVISION]")
        ->required();
    command
        .add_option("--endpoint", options->endpoint,
                    "the address of the Hub (default: HF_ENDPOINT, else https://huggingface.co)")
        ->option_text("URL");
    command
        .add_option(
            "--cache", options->cache,
            "the folder for models (default: the cache of Hugging Face's programs, so that they share it)")
        ->option_text("DIR");
    command.footer(
        "Downloads configuration, tokenizer and weights, never code. Afterwards, --model NAME opens the "
        "model everywhere. HF_TOKEN is an access token, for models that need one.");
    command.callback([options] { run_get(*options); });
}

} // namespace headscope::cli
