-- nvim --headless -u CONFIGURATION -S neovim.lua: opens the files $GOOD and $BAD, and prints what is shown of $BAD.
local answer = {}
local bad, good = vim.env.BAD, vim.env.GOOD

local function wait(holds)
  assert(vim.wait(40000, holds, 20), "nothing came of it: " .. vim.inspect(vim.diagnostic.get()))
end

local function shown()
  return vim.diagnostic.get(0)
end

local ok, fault = pcall(function()
  vim.cmd.edit(good)
  wait(function() return #vim.lsp.get_clients({ bufnr = 0 }) > 0 end)
  wait(function() return vim.lsp.get_clients({ bufnr = 0 })[1].initialized end)

  vim.cmd.edit(bad)
  wait(function() return #shown() > 0 end)
  local finding = shown()[1]
  answer.finding = { code = finding.code, line = finding.lnum, message = finding.message }

  vim.api.nvim_win_set_cursor(0, { finding.lnum + 1, finding.col })
  vim.lsp.buf.code_action({ apply = true })
  wait(function() return #shown() == 0 end)
  answer.fixed = vim.api.nvim_buf_get_lines(0, 0, -1, false)

  vim.api.nvim_win_set_cursor(0, { tonumber(vim.env.LINE), tonumber(vim.env.COLUMN) })
  vim.lsp.buf.hover()
  local text
  wait(function()
    for _, window in ipairs(vim.api.nvim_list_wins()) do
      if vim.api.nvim_win_get_config(window).relative ~= "" then
        text = vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(window), 0, -1, false)
        return true
      end
    end
  end)
  answer.hover = table.concat(text, "\n")
end)
answer.fault = not ok and fault or nil
io.stdout:write(vim.json.encode(answer), "\n")
vim.cmd("qall!")
