#include "app/cli/stop_on_signal.h"

#include <csignal>

namespace headscope::cli {

namespace {

Progress stopping;

} // namespace

StopOnSignal::StopOnSignal() {
    for (const int signal : {SIGINT, SIGTERM})
        std::signal(signal, [](int which) {
            stopping.cancel();
            std::signal(which, SIG_DFL);
        });
}

StopOnSignal::~StopOnSignal() {
    for (const int signal : {SIGINT, SIGTERM})
        std::signal(signal, SIG_DFL);
}

Progress& StopOnSignal::progress() {
    return stopping;
}

} // namespace headscope::cli
