-- Health of a VirtualMachine of kubevirt.io for Argo CD.
-- A VM that is stopped because its run strategy says so is healthy: as "Suspended" it would hold up later sync waves.
-- What KubeVirt cannot do (a missing instancetype, a failing image) is degraded, and a required restart is said.

local failing = {
  CrashLoopBackOff = true,
  DataVolumeError = true,
  ErrImagePull = true,
  ErrorPvcNotFound = true,
  ErrorUnschedulable = true,
  ImagePullBackOff = true,
}

local function condition(name)
  for _, one in ipairs(obj.status.conditions or {}) do
    if one.type == name and one.status == "True" then
      return one
    end
  end
  return nil
end

local function may_be_stopped()
  local strategy = obj.spec.runStrategy
  if strategy == nil then
    return obj.spec.running ~= true
  end
  return strategy ~= "Always"
end

if obj.status == nil or obj.status.printableStatus == nil then
  return { status = "Progressing", message = "waiting for KubeVirt" }
end

local state = obj.status.printableStatus
local failure = condition("Failure")
if failure ~= nil then
  return { status = "Degraded", message = failure.message or failure.reason or "" }
end
if failing[state] then
  return { status = "Degraded", message = state }
end

local restart = condition("RestartRequired")
local message = state
if restart ~= nil then
  message = state .. "; restart required: " .. (restart.message or "")
end
if state == "Running" then
  if obj.status.ready then
    return { status = "Healthy", message = message }
  end
  return { status = "Progressing", message = message }
end
if state == "Paused" then
  return { status = "Suspended", message = message }
end
if state == "Stopped" and may_be_stopped() then
  return { status = "Healthy", message = message }
end
return { status = "Progressing", message = message }
