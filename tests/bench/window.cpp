#include "tests/bench/window.h"

#include "app/draw/kit/format.h"
#include "app/shell/program.h"
#include "app/shell/window.h"
#include "core/base/error.h"
#include "tests/bench/frames.h"
#include "tests/bench/machine.h"
#include "tests/bench/typing.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <iostream>
#include <nlohmann/json.hpp>
#include <thread>
#include <unistd.h>

namespace headscope::bench {

namespace {

std::string run_self(const std::string& arguments) {
    std::string path(4096, '\0');
    const ssize_t length = readlink("/proc/self/exe", path.data(), path.size());
    path.resize(length > 0 ? static_cast<std::size_t>(length) : 0);
    std::FILE* pipe = popen(("'" + path + "' " + arguments).c_str(), "r");
    if (pipe == nullptr)
        return {};
    std::string out;
    char buffer[256];
    while (std::fgets(buffer, sizeof buffer, pipe) != nullptr)
        out += buffer;
    pclose(pipe);
    return out;
}

} // namespace

void measure_window() {
    constexpr std::chrono::milliseconds settling(500), idle(3000);
    app::Program program({.device = "auto", .wake = app::wake_window});
    Typist typist(program);
    TimedUi ui(program);
    double first_frame = 0, idle_share = 0, resident = 0;
    std::thread watcher;
    app::WindowOptions options;
    options.on_first_frame = [&](double milliseconds) {
        first_frame = milliseconds;
        watcher = std::thread([&] {
            std::this_thread::sleep_for(settling);
            const std::clock_t before = std::clock();
            std::this_thread::sleep_for(idle);
            idle_share = static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC /
                         std::chrono::duration<double>(idle).count();
            resident = static_cast<double>(resident_memory()) / (1 << 20);
            typist.press_keys(ui.quit);
            std::this_thread::sleep_for(settling); // the last character is on screen long before
            ui.quit = true;
            app::wake_window();
        });
    };
    options.typed = [&] { return typist.before_frame(); };
    options.on_frame = [&](float) {
        typist.after_frame();
        if (typist.done())
            ui.quit = true;
    };
    app::run_window(ui, options);
    if (watcher.joinable())
        watcher.join();
    std::cout << nlohmann::json{{"first_frame_ms", first_frame},
                                {"idle_share", idle_share},
                                {"typing_s", typist.seconds()},
                                {"resident_mb", resident}}
              << '\n';
}

void add_window_rows(std::vector<BenchRow>& rows) {
    if (std::getenv("DISPLAY") == nullptr) {
        rows.push_back({"window", "not measured", "no display; run it under xvfb-run",
                        nlohmann::json{{"name", "window"}, {"skipped", "no display"}}.dump()});
        return;
    }
    std::vector<double> starts;
    nlohmann::json last;
    for (int run = 0; run < 5; ++run) {
        last = nlohmann::json::parse(run_self("--in-window"), nullptr, false);
        if (!last.is_object())
            throw Error(ErrorKind::machine,
                        "the window could not be opened; start headscope to see the reason");
        if (last.at("typing_s").empty())
            throw Error(ErrorKind::machine,
                        "the window was closed before it was measured; run bench again and leave it open");
        starts.push_back(last.at("first_frame_ms").get<double>() / 1000);
    }
    rows.push_back(timed_row("program start to first frame", spread_of(starts), "under 400 ms"));
    rows.push_back(timed_row("typing 30 characters a second, key to picture",
                             spread_of(last.at("typing_s").get<std::vector<double>>()), "under 33 ms"));
    const double idle = last.at("idle_share").get<double>(), resident = last.at("resident_mb").get<double>();
    rows.push_back({"idle, share of a core", app::number(idle * 100, 2) + " %", "wanted: under 2 %",
                    nlohmann::json{{"name", "idle"}, {"share", idle}}.dump()});
    rows.push_back({"resident memory", app::number(resident, 0) + " MB",
                    "with Mesa's software GL; wanted: under 150 MB",
                    nlohmann::json{{"name", "resident"}, {"megabytes", resident}}.dump()});
}

} // namespace headscope::bench
