#include "app/shell/film/writers.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/message.h"
#include "core/base/system_reason.h"
#include "core/text/plain_text.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <optional>
#include <utility>
#include <vector>

namespace headscope::app {

namespace {

[[noreturn]] void fail_system(int error) {
    throw Error(ErrorKind::machine, tr("video_writer.ffmpeg_cant_started_mend",
                                       "ffmpeg can't be started: {}; repair its installation, or record an "
                                       ".html file, which needs no ffmpeg",
                                       system_reason(error)));
}

/// A file descriptor that is closed automatically and is not inherited by other programs.
class Descriptor {
public:
    /// Throws Error(machine) for -1, with errno.
    explicit Descriptor(int descriptor) {
        if (descriptor < 0)
            fail_system(errno);
        // Above the descriptor numbers that ffmpeg receives.
        constexpr int first = 16;
        value_ = ::fcntl(descriptor, F_DUPFD_CLOEXEC, first);
        const int fault = errno;
        ::close(descriptor);
        if (value_ < 0)
            fail_system(fault);
    }
    Descriptor(Descriptor&& other) noexcept : value_(std::exchange(other.value_, -1)) {}
    Descriptor& operator=(Descriptor&& other) noexcept {
        std::swap(value_, other.value_);
        return *this;
    }
    ~Descriptor() {
        if (value_ >= 0)
            ::close(value_);
    }
    int get() const { return value_; }

private:
    int value_ = -1;
};

/// Creates a file in memory, which exists until it is closed everywhere.
Descriptor memory_file() {
    return Descriptor(::memfd_create("film", MFD_CLOEXEC));
}

std::string content(const Descriptor& file) {
    return read_file("/proc/self/fd/" + std::to_string(file.get()), std::uint64_t{4096} * mebibyte);
}

std::string last_line(std::string text) {
    while (!text.empty() && (text.back() == '\n' || text.back() == '\r'))
        text.pop_back();
    return text.substr(text.find_last_of("\r\n") + 1);
}

/// One run of ffmpeg. It reads frames from a socket, or files in memory through /dev/fd/4 and /dev/fd/5, and
/// writes to /dev/fd/3.
class Ffmpeg {
public:
    /// Throws Error(machine) if ffmpeg cannot be started.
    explicit Ffmpeg(std::vector<std::string> arguments, const std::vector<const Descriptor*>& inputs = {})
        : output_(memory_file()), messages_(memory_file()) {
        // With a socket, sending to a program that has ended gives an error instead of a signal.
        std::array<int, 2> ends{};
        if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
            fail_system(errno);
        const Descriptor theirs(ends[1]);
        frames_.emplace(ends[0]);
        posix_spawn_file_actions_t files;
        ::posix_spawn_file_actions_init(&files);
        std::vector<const Descriptor*> given{&theirs, &messages_, &messages_, &output_};
        given.insert(given.end(), inputs.begin(), inputs.end());
        for (int number = 0; const Descriptor* one : given)
            ::posix_spawn_file_actions_adddup2(&files, one->get(), number++);
        arguments.insert(arguments.begin(),
                         {"ffmpeg", "-hide_banner", "-nostdin", "-loglevel", "error", "-y"});
        arguments.emplace_back("/dev/fd/3");
        std::vector<char*> words;
        for (std::string& argument : arguments)
            words.push_back(argument.data());
        words.push_back(nullptr);
        const int fault = ::posix_spawnp(&process_, "ffmpeg", &files, nullptr, words.data(), environ);
        ::posix_spawn_file_actions_destroy(&files);
        if (fault != 0)
            process_ = -1;
        if (fault == ENOENT)
            throw Error(ErrorKind::machine,
                        tr("video_writer.gif_mp4_made_program",
                           "GIF and MP4 are made by the program ffmpeg, which is not in PATH; install the "
                           "package ffmpeg, or record an .html file, which needs none"));
        if (fault != 0)
            fail_system(fault);
    }
    /// Kills a run that was not finished.
    ~Ffmpeg() {
        if (process_ > 0) {
            ::kill(process_, SIGKILL);
            ::waitpid(process_, nullptr, 0);
        }
    }
    Ffmpeg(const Ffmpeg&) = delete;
    Ffmpeg& operator=(const Ffmpeg&) = delete;

    void send(const Image& image) {
        const std::uint8_t* bytes = image.rgba.data();
        for (std::size_t left = image.rgba.size(); left > 0;) {
            const ssize_t sent = ::send(frames_->get(), bytes, left, MSG_NOSIGNAL);
            if (sent < 0 && errno == EINTR)
                continue;
            if (sent < 0)
                fail();
            bytes += sent;
            left -= static_cast<std::size_t>(sent);
        }
    }

    /// Waits for the end. Returns the output.
    Descriptor finish() {
        if (wait() != 0)
            fail();
        return std::move(output_);
    }

private:
    /// Waits for the program and returns its exit status.
    int wait() {
        frames_.reset();
        int status = 0;
        if (const pid_t process = std::exchange(process_, -1); process > 0)
            while (::waitpid(process, &status, 0) < 0 && errno == EINTR) {
            }
        return status;
    }

    [[noreturn]] void fail() {
        wait();
        const std::string said = last_line(content(messages_));
        fail_input(said.empty() ? tr("video_writer.ffmpeg_could_not_make",
                                     "ffmpeg could not make the film and gives no reason; repair its "
                                     "installation, or record an .html file, which needs no ffmpeg")
                                : tr("video_writer.ffmpeg_could_not_make_2",
                                     "ffmpeg could not make the film: \"{}\"; repair its installation, or "
                                     "record an .html file, which needs no ffmpeg",
                                     text::plain_excerpt(said)));
    }

    Descriptor output_, messages_;
    std::optional<Descriptor> frames_;
    pid_t process_ = -1;
};

using Words = std::vector<std::string>;

Words first_run(FilmFormat format, int width, int height, int fps) {
    Words words{"-f",         "rawvideo",          "-pix_fmt",
                "rgb0",       "-video_size",       std::to_string(width) + "x" + std::to_string(height),
                "-framerate", std::to_string(fps), "-i",
                "pipe:0"};
    // The palette of a GIF is known only after the last frame: until then its frames are stored losslessly,
    // without duplicates. The MP4 format is one that browsers and phones can play.
    const Words gif{"-vf", "mpdecimate=hi=0:lo=0:frac=0", "-c:v", "ffv1", "-f", "matroska"};
    const Words mp4{"-vf",
                    "scale=out_color_matrix=bt709:out_range=tv,format=yuv420p",
                    "-colorspace",
                    "bt709",
                    "-color_primaries",
                    "bt709",
                    "-color_trc",
                    "bt709",
                    "-c:v",
                    "libx264",
                    "-crf",
                    "18",
                    "-fflags",
                    "+bitexact",
                    "-movflags",
                    "+faststart",
                    "-f",
                    "mp4"};
    const Words& more = format == FilmFormat::gif ? gif : mp4;
    words.insert(words.end(), more.begin(), more.end());
    return words;
}

class VideoWriter final : public FilmWriter {
public:
    VideoWriter(FilmFormat format, int width, int height, int fps)
        : format_(format), fps_(fps), frames_(first_run(format, width, height, fps)) {}

    bool shows_motion() const override { return true; }
    void move(const Image& image) override { add(image, 1); }
    void rest(const Image& image, int frames, const FilmText&) override { add(image, frames); }

    std::string finish() override {
        const Descriptor film = frames_.finish();
        if (format_ == FilmFormat::mp4)
            return content(film);
        const Words source{"-f", "matroska", "-i", "/dev/fd/4"};
        Words words = source;
        words.insert(words.end(), {"-vf", "palettegen", "-f", "image2pipe", "-c:v", "png"});
        const Descriptor palette = Ffmpeg(words, {&film}).finish();
        words = source;
        constexpr double hundredths = 100;
        // Nearest palette colors without dithering; the last picture keeps its duration.
        words.insert(words.end(),
                     {"-f", "png_pipe", "-i", "/dev/fd/5", "-lavfi", "paletteuse=dither=none", "-final_delay",
                      std::to_string(std::lround(hundredths * shown_frames_ / fps_)), "-f", "gif"});
        return content(Ffmpeg(words, {&film, &palette}).finish());
    }

private:
    void add(const Image& image, int frames) {
        shown_frames_ = image.rgba == last_.rgba ? shown_frames_ + frames : frames;
        for (int frame = 0; frame < frames; ++frame)
            frames_.send(image);
        last_ = image;
    }

    FilmFormat format_;
    int fps_;
    Ffmpeg frames_;
    Image last_;
    int shown_frames_ = 0; ///< number of frames that it is shown
};

} // namespace

FilmFormat film_format(const std::string& path) {
    for (const auto& [ending, format] :
         {std::pair(".gif", FilmFormat::gif), {".mp4", FilmFormat::mp4}, {".html", FilmFormat::html}})
        if (path.ends_with(ending))
            return format;
    fail_input(tr("video_writer.no_name_film_give",
                  "{} is not a valid name for a film; give one that ends in .gif, .mp4 or .html", path));
}

std::unique_ptr<FilmWriter> video_writer(FilmFormat format, const FilmLook& look) {
    const auto pixels = [&](int side) {
        return static_cast<int>(std::round(static_cast<float>(side) * look.scale));
    };
    const int width = pixels(look.width), height = pixels(look.height);
    if (format == FilmFormat::mp4 && (width % 2 != 0 || height % 2 != 0))
        fail_input(tr("video_writer.mp4_even_numbers_pixels",
                      "an MP4 needs even numbers of pixels, and this one would have {}x{}; give another "
                      "--size or --scale",
                      width, height));
    return std::make_unique<VideoWriter>(format, width, height, look.fps);
}

} // namespace headscope::app
