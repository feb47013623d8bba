-- wrk script: asks in turn for every path in the file named after `--`.
-- Each thread starts at another place, so that threads ask for different pages.
local threads = 0

function setup(thread)
  thread:set("number", threads)
  threads = threads + 1
end

function init(arguments)
  requests = {}
  for path in io.lines(arguments[1]) do
    requests[#requests + 1] = wrk.format("GET", path)
  end
  at = math.floor(number * #requests / 2)
end

function request()
  at = at % #requests + 1
  return requests[at]
end
