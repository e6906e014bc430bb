# The course alone (preset `course`, scripts/course): of the library what a learner's program is linked to, of the command
# `tessera puzzle`. So the first puzzle runs minutes after cloning. tests/cli/course_build_test.py links and runs it.
option(TESSERA_ONLY_COURSE "Build of library and command only what the course needs" OFF)

# tessera_keep_course(SOURCES): takes from a list of the library's sources what the course does not need.
function(tessera_keep_course sources)
  if(TESSERA_ONLY_COURSE)
    set(library "(base|core|cuda|puzzle|simt|tensor)/.*|io/(array|atomic_file|memory|npy|npy_types|registry)|layout/(cells|print|refused)")
    list(FILTER ${sources} INCLUDE REGEX "/src/(${library}|check/.*)[.]cpp$")
    list(FILTER ${sources} EXCLUDE REGEX
         "/check/(file_main|html_report|page|roofline_picture|source_listing|timeline_picture|unfinished)[.]cpp$")
  endif()
  set(${sources} ${${sources}} PARENT_SCOPE)
endfunction()
